#include "tools/planning_inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <utility>

#include "planner/inputs/input_text.hpp"
#include "planner/ir/errors.hpp"
#include "planner/ir/units.hpp"
#include "tools/data_files.hpp"
#include "tools/terminal.hpp"

namespace hsap {

namespace {

/// Drawn documents fill this many batches more than asked, so that first-fit can close the gaps of the one that is planned.
constexpr std::size_t kSpareBatches = 3;
/// Of "cluster", "layer", ... in reports.
constexpr std::size_t kLabelWidth = 9;

std::string count_text(std::size_t count) { return format_count(static_cast<long long>(count)); }

ChosenBatch ready_batch(const LengthSource& source, std::optional<Token> tokens, std::size_t batch) {
  ChosenBatch chosen;
  for (const Token length : source.lengths) chosen.batch.offsets.push_back(chosen.batch.tokens() + length);
  const std::string what = source.name + " is one packed batch of " + format_count(chosen.batch.tokens()) + " tokens already";
  if (tokens && *tokens != chosen.batch.tokens())
    throw InvalidInput("--tokens " + std::to_string(*tokens) + ": " + what + "; leave --tokens out");
  if (batch > 0) throw InvalidInput("--batch " + std::to_string(batch) + ": " + what + "; leave --batch out");
  return chosen;
}

std::vector<Token> draw_documents(const LengthHistogram& histogram, Token tokens, std::size_t batch, std::uint64_t seed) {
  constexpr double kMostTokens = 1e11;  // beyond it memory, not usefulness, would end the run
  const std::size_t batches = batch + 1 + kSpareBatches;
  if (static_cast<double>(tokens) * static_cast<double>(batches) > kMostTokens)
    throw InvalidInput("--tokens " + std::to_string(tokens) + " --batch " + std::to_string(batch) + ": " + count_text(batches) +
                       " batches of that size would be drawn from " + histogram.name +
                       ", more than 100 billion tokens; give smaller ones");
  return draw_lengths(histogram, tokens * static_cast<Token>(batches), seed);
}

/// Room left in the batches is not told: more documents could have been drawn for it.
std::vector<std::string> drawing_remarks(const std::string& name, const std::vector<Token>& lengths,
                                         const PackingReport& report) {
  const Token drawn = std::accumulate(lengths.begin(), lengths.end(), Token{0});
  std::vector<std::string> remarks = {count_text(lengths.size()) + " documents with " + format_count(drawn) +
                                      " tokens drawn from " + name};
  if (report.split_documents > 0)
    remarks.push_back(count_text(report.split_documents) + " of them longer than a batch and split");
  return remarks;
}

ChosenBatch pack_batch(const LengthSource& source, Token tokens, std::size_t batch, std::uint64_t seed) {
  if (tokens < 1) throw InvalidInput("--tokens " + std::to_string(tokens) + ": expected at least 1");
  const std::vector<Token> lengths = source.histogram ? draw_documents(*source.histogram, tokens, batch, seed) : source.lengths;
  Packing packing = pack_first_fit(lengths, tokens);
  if (batch >= packing.batches.size())
    throw InvalidInput("--batch " + std::to_string(batch) + ": " + source.name + " fills " +
                       count_text(packing.batches.size()) + " batches of " + format_count(tokens) + " tokens, counted from 0");
  ChosenBatch chosen;
  chosen.batch = packing.batches[batch];
  chosen.batches = packing.batches.size();
  chosen.remarks = source.histogram ? drawing_remarks(source.name, lengths, packing.report) : packing.report.remarks;
  return chosen;
}

void set_decay(double decay, ChosenLayer& layer) {
  layer.kind.attention.decay = decay;
  try {
    check_decay(layer.kind.attention);
  } catch (const InvalidInput& error) {
    throw InvalidInput("--decay: " + layer.model.name + ", " + layer.kind.name + " layer: " + error.what());
  }
}

/// "sliding (36 layers), full (12 layers)"
std::string kinds_text(const ModelShape& model) {
  std::vector<std::string> kinds;
  for (const LayerKind& kind : model.kinds) kinds.push_back(kind.name + " (" + count_text(kind.layers.size()) + " layers)");
  return listed(kinds);
}

}  // namespace

ChosenCluster parse_cluster(const std::string& text, const std::string& source, const std::vector<GpuId>& gpus) {
  const ClusterTopology whole = ClusterTopology::parse(text, source);
  const bool first_ones = !gpus.empty() && gpus.back() + 1 == gpus.size();  // they ascend
  return {text, source, gpus, whole.gpus(), first_ones ? whole.take_first(gpus.size()) : whole.take(gpus)};
}

ChosenCluster read_cluster(const std::string& file_or_name, const std::string& gpus) {
  const std::filesystem::path file = data_file(DataKind::cluster, file_or_name);
  const std::string text = read_input_text(file);
  ChosenCluster chosen = parse_cluster(text, file.string(), parse_gpus(gpus, ClusterTopology::parse(text, file.string())));
  chosen.source = file_or_name;
  return chosen;
}

ChosenLayer read_layer(const std::string& file_or_name, const std::string& layer) {
  const std::vector<std::string> presets = model_preset_names();
  const bool is_path = file_or_name.find('/') != std::string::npos;
  const bool is_preset = !is_path && std::find(presets.begin(), presets.end(), file_or_name) != presets.end();
  std::error_code error;
  if (!is_preset && !std::filesystem::exists(file_or_name, error))
    throw InvalidInput("model " + shown(file_or_name) + ": no such file, and none of the built-in ones: " + listed(presets));
  ChosenLayer chosen{is_preset ? model_preset(file_or_name) : read_model_config(file_or_name), {}, {}};
  if (chosen.model.kinds.empty()) throw InvalidInput("model " + chosen.model.name + " has no layer with attention");
  chosen.kind = layer.empty() ? chosen.model.kinds.front() : chosen.model.kind(layer);
  if (layer.empty() && chosen.model.kinds.size() > 1)
    chosen.model.remarks.push_back("the model has several kinds of layers: " + kinds_text(chosen.model) + "; this is " +
                                   chosen.kind.name + ", choose with --layer");
  return chosen;
}

ChosenLayer with_mask(ChosenLayer layer, const std::string& mask) {
  AttentionShape& shape = layer.kind.attention;
  const MaskRule rule = parse_mask_rule(mask);
  if (shape.kind == AttentionKind::linear && rule != MaskRule{})
    throw InvalidInput("--mask " + mask + ": layer " + layer.kind.name + " of " + layer.model.name +
                       " is linear attention, whose state sums all earlier tokens; only causal works, or another --layer");
  if (rule != shape.mask)
    layer.model.remarks.push_back("the mask rule is as asked for with --mask; the model's layer has: " + to_string(shape.mask));
  shape.mask = rule;
  layer.mask = mask;
  return layer;
}

LengthSource read_lengths(const std::string& file_or_name, const std::optional<std::string>& column) {
  const bool built_in = file_or_name.find('/') == std::string::npos && is_data_name(DataKind::lengths, file_or_name);
  LengthSource source = read_document_lengths(data_file(DataKind::lengths, file_or_name), {.column = column});
  if (built_in) source.name = file_or_name;
  return source;
}

ChosenBatch read_batch(const std::string& file_or_name, const std::optional<std::string>& column, std::optional<Token> tokens,
                       std::size_t batch, std::uint64_t seed) {
  const LengthSource source = read_lengths(file_or_name, column);
  ChosenBatch chosen = source.fixed_batch ? ready_batch(source, tokens, batch)
                                          : pack_batch(source, tokens.value_or(kDefaultTokens), batch, seed);
  chosen.recipe = {source.name, source.fixed_batch ? chosen.batch.tokens() : tokens.value_or(kDefaultTokens), batch, seed};
  chosen.remarks.insert(chosen.remarks.begin(), source.remarks.begin(), source.remarks.end());
  return chosen;
}

ChosenLayer read_layer(const InputOptions& options) {
  ChosenLayer layer = read_layer(options.model, options.layer);
  if (options.mask) layer = with_mask(std::move(layer), *options.mask);
  if (options.decay) set_decay(*options.decay, layer);
  return layer;
}

PlanningInputs read_inputs(const InputOptions& options) {
  ChosenLayer layer = read_layer(options);
  return {read_cluster(options.cluster, options.gpus), std::move(layer),
          read_batch(options.lengths, options.column, options.tokens, options.batch, options.seed)};
}

std::vector<std::string> PlanningInputs::remarks() const {
  std::vector<std::string> all = cluster.topology.remarks();
  all.insert(all.end(), layer.model.remarks.begin(), layer.model.remarks.end());
  all.insert(all.end(), batch.remarks.begin(), batch.remarks.end());
  return all;
}

std::string described(const ChosenCluster& cluster) {
  return labelled("cluster", kLabelWidth,
                  cluster.topology.name() + " (" + cluster.source + "): " + count_text(cluster.gpus.size()) + " of " +
                      count_text(cluster.gpus_in_all) + " GPUs (" + device_names(cluster.topology) + ") on " +
                      count_text(cluster.topology.nodes()) + (cluster.topology.nodes() == 1 ? " node" : " nodes")) +
         "\n";
}

std::string described(const ChosenLayer& layer) {
  return labelled("layer", kLabelWidth,
                  layer.model.name + ", " + layer.kind.name + " attention (" + count_text(layer.kind.layers.size()) + " of " +
                      std::to_string(layer.model.layers) + " layers): " + describe(layer.kind.attention)) +
         "\n";
}

std::string PlanningInputs::description() const {
  const std::vector<Token>& offsets = batch.batch.offsets;
  Token longest = 0;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) longest = std::max(longest, offsets[i + 1] - offsets[i]);
  std::string text = described(cluster) + described(layer);
  const auto add = [&](const char* label, const std::string& line) { text += labelled(label, kLabelWidth, line) + "\n"; };
  add("batch", batch.recipe.lengths + ", seed " + std::to_string(batch.recipe.seed) + ": batch " +
                   std::to_string(batch.recipe.batch) + " of " + count_text(batch.batches) + ", " +
                   format_count(batch.batch.tokens()) + " of " + format_count(batch.recipe.tokens) + " tokens used by " +
                   count_text(batch.batch.documents()) + (batch.batch.documents() == 1 ? " document" : " documents") +
                   ", longest " + format_count(longest));
  for (const std::string& remark : remarks()) add("note", remark);
  return text;
}

std::string device_names(const ClusterTopology& cluster) {
  std::vector<std::string> names;
  for (GpuId gpu = 0; gpu < cluster.gpus(); ++gpu)
    if (const std::string& name = cluster.device(gpu).name; std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  return listed(names);
}

std::string describe(const AttentionShape& shape) {
  std::string text = to_string(shape.kind) + ", " + std::to_string(shape.query_heads) + " query heads, " +
                     std::to_string(shape.kv_heads) + " kv heads, head width " + std::to_string(shape.qk_dim);
  if (shape.v_dim != shape.qk_dim) text += " (v " + std::to_string(shape.v_dim) + ")";
  if (shape.mask != MaskRule{}) text += ", mask " + to_string(shape.mask);
  std::ostringstream decay;  // six significant digits, as many as there are
  if (shape.decay != 0) decay << ", decay " << shape.decay;
  return text + decay.str() + ", " + to_string(shape.dtype);
}

}  // namespace hsap
