#include "tools/whole_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace fs = std::filesystem;

namespace {

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

/// The file that `file` leads to when it is a symbolic link: renaming must replace that file, not the link.
fs::path behind_links(const fs::path& file) {
  constexpr int kMostLinks = 40;  // as the kernel follows
  fs::path path = file;
  std::error_code error;
  for (int links = 0; links < kMostLinks && fs::is_symlink(path, error); ++links)
    path = folder_of(path) / fs::read_symlink(path, error);
  return path;
}

InvalidInput cannot_write(const fs::path& file, int code) {
  return {file.string(), 0, std::string("cannot be written: ") + std::strerror(code)};
}

}  // namespace

void require_writable(const fs::path& file) {
  std::error_code error;
  if (file.empty()) throw InvalidInput("the name of the output file is empty");
  if (fs::is_directory(file, error)) throw InvalidInput(file.string(), 0, "is a directory, expected a file to write");
  if (fs::exists(file, error) && !fs::is_regular_file(file, error))
    throw InvalidInput(file.string(), 0, "is no regular file, so it cannot be replaced as a whole; give the name of a file");
  const fs::path folder = folder_of(file);
  if (!fs::is_directory(folder, error))
    throw InvalidInput(file.string(), 0, "cannot be written: there is no folder " + folder.string());
  if (access(folder.c_str(), W_OK | X_OK) != 0) throw cannot_write(file, errno);
}

void write_whole_file(const fs::path& file, const std::string& text) {
  require_writable(file);
  const fs::path target = behind_links(file);
  const fs::path temporary = folder_of(target) / ("." + target.filename().string() + ".part" + std::to_string(getpid()));
  std::ofstream stream(temporary, std::ios::binary);
  if (!stream) throw cannot_write(file, errno);
  stream << text;
  stream.close();
  const int written = stream ? 0 : errno;
  if (written == 0 && std::rename(temporary.c_str(), target.c_str()) == 0) return;
  const int code = written != 0 ? written : errno;
  unlink(temporary.c_str());
  throw cannot_write(file, code);
}

}  // namespace hsap
