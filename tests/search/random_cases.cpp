#include "tests/search/random_cases.hpp"

#include <algorithm>
#include <filesystem>
#include <random>
#include <vector>

#include "planner/inputs/document_lengths.hpp"
#include "planner/inputs/model_shape.hpp"
#include "planner/inputs/packed_batch.hpp"

namespace hsap::test {

namespace {

namespace fs = std::filesystem;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[below(values.size())];
  }
  std::uint64_t seed() { return random_(); }

 private:
  std::mt19937_64 random_;
};

std::vector<fs::path> files_in(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(HSAP_SOURCE_DIR) / folder))
    if (entry.path().extension() == extension) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// A built-in distribution's documents, or documents of one length or two: packed first-fit, the first batch.
std::vector<Token> draw_offsets(Draw& draw, Token tokens, std::string& description) {
  const std::vector<fs::path> files = files_in("traces", ".csv");
  const std::size_t which = draw.below(files.size() + 3);
  if (which < files.size()) {
    const LengthSource source = read_document_lengths(files[which]);
    const std::uint64_t seed = draw.below(1000);
    description += files[which].stem().string() + " seed " + std::to_string(seed);
    const std::vector<Token> lengths = source.histogram ? draw_lengths(*source.histogram, 4 * tokens, seed) : source.lengths;
    return pack_first_fit(lengths, tokens).batches.front().offsets;
  }
  std::vector<Token> offsets{0};
  const Token length = Token{16} << draw.below(10);
  const Token first = which == files.size() ? tokens : which == files.size() + 1 ? length : tokens / 2;
  description += "a document of " + std::to_string(first) + " tokens, then of " + std::to_string(length);
  for (Token next = first; offsets.back() < tokens; next = length) offsets.push_back(std::min(tokens, offsets.back() + next));
  return offsets;
}

LinearWork linear_work_of(const LayerKind& layer, const ClusterTopology& cluster, const KernelTimes& kernels) {
  if (!layer.linear_parameters) return {};
  return linear_work(*layer.linear_parameters, layer.attention.dtype, static_cast<int>(cluster.gpus()), kernels);
}

}  // namespace

RandomCase random_case(std::uint64_t seed) {
  Draw draw(seed);
  const fs::path topology = draw.one_of(files_in("topologies", ".yaml"));
  const ClusterTopology whole = ClusterTopology::read(topology);
  const std::size_t gpus =
      std::min(whole.gpus(), draw.one_of(std::vector<std::size_t>{2, 3, 4, 4, 6, 8, 8, 8, 12, 16, 16, 24}));
  const ModelShape model = model_preset(draw.one_of(model_preset_names()));
  const LayerKind& layer = draw.one_of(model.kinds);
  const Token tokens = (Token{1024} << draw.below(9)) - (draw.below(2) == 0 ? 0 : static_cast<Token>(draw.below(500)));
  RandomCase result{topology.stem().string() + ", " + std::to_string(gpus) + " GPUs, " + model.name + " " + layer.name + ", " +
                        std::to_string(tokens) + " tokens, ",
                    whole.take_first(gpus),
                    {}};
  const std::vector<Token> offsets = draw_offsets(draw, tokens, result.description);
  const KernelTimes kernels(result.cluster);
  CompareRequest& request = result.request;
  request.linear_work = linear_work_of(layer, result.cluster, kernels);
  request.objective = request.linear_work.counted() && draw.below(4) > 0 ? Objective::layer : Objective::attention;
  request.problem = make_problem(layer.attention, offsets, result.cluster,
                                 request.objective == Objective::layer ? request.linear_work : LinearWork{}, kernels);
  request.linear_work.barrier = request.problem.barrier = request.objective == Objective::layer && draw.below(5) == 0;
  result.description += ", by " + to_string(request.objective) + (request.problem.barrier ? " with a barrier" : "");
  for (const Strategy* strategy : all_strategies())
    if (strategy->serves(layer.attention.kind)) request.strategies.push_back(strategy->name());
  return result;
}

}  // namespace hsap::test
