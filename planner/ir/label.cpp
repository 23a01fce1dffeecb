#include "planner/ir/label.hpp"

#include <mutex>
#include <unordered_set>

namespace hsap {

Label::Label(const std::string& text) {
  static std::mutex mutex;
  static std::unordered_set<std::string> texts;  // an element stays where it is
  const std::lock_guard lock(mutex);
  text_ = *texts.insert(text).first;
}

}  // namespace hsap
