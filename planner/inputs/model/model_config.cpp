// Reads a Hugging Face config.json: which layers mix tokens how (model_layers), with which heads and widths (model_attention),
// and how much linear work they have (model_linear).
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "planner/inputs/input_json.hpp"
#include "planner/inputs/input_text.hpp"
#include "planner/inputs/model/config_object.hpp"
#include "planner/inputs/model/model_attention.hpp"
#include "planner/inputs/model/model_layers.hpp"
#include "planner/inputs/model/model_linear.hpp"
#include "planner/inputs/model/model_refusals.hpp"
#include "planner/inputs/model_shape.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

constexpr int kMostLayers = 100'000;

/// The language model of a file that describes several (multimodal models): the nested object, or the file itself.
ConfigObject language_model(const ConfigObject& whole_file) {
  for (const std::string_view key : {"text_config", "language_config", "llm_config"})
    if (whole_file.has(key)) return whole_file.object(key);
  return whole_file;
}

DType read_dtype(const ConfigObject& config, const ConfigObject& whole_file, std::vector<std::string>& remarks) {
  static const std::map<std::string, DType> kNames = {{"bfloat16", DType::bf16},
                                                      {"float16", DType::fp16},
                                                      {"float32", DType::fp32},
                                                      {"half", DType::fp16},
                                                      {"float", DType::fp32}};
  for (const ConfigObject* object : {&config, &whole_file}) {
    for (const std::string_view key : {"dtype", "torch_dtype"}) {
      if (!object->active(key)) continue;
      std::string name = object->text(key);
      if (name.starts_with("torch.")) name.erase(0, 6);
      if (const auto found = kNames.find(name); found != kNames.end()) return found->second;
      throw object->error(key, "is " + shown(object->json().at(std::string(key))) + ", expected bfloat16, float16 or float32");
    }
  }
  remarks.push_back("torch_dtype is not in the file: bf16 assumed");
  return DType::bf16;
}

std::string kind_name(Mixer mixer) {
  switch (mixer) {
    case Mixer::full:
      return "full";
    case Mixer::sliding:
      return "sliding";
    case Mixer::chunked:
      return "chunked";
    case Mixer::none:
    case Mixer::delta:
    case Mixer::lightning:
    case Mixer::mamba:
      break;
  }
  return "linear";
}

/// The kind for a layer: the one with this attention, or a new one. Kinds of one mixer that differ get their heads into the
/// name.
LayerKind& kind_for(std::vector<LayerKind>& kinds, Mixer mixer, const AttentionShape& shape) {
  const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const LayerKind& kind) { return kind.attention == shape; });
  if (same != kinds.end()) return *same;
  std::string name = kind_name(mixer);
  const bool taken = std::any_of(kinds.begin(), kinds.end(), [&](const LayerKind& kind) { return kind.name == name; });
  if (taken) name += "-" + std::to_string(shape.query_heads) + "/" + std::to_string(shape.kv_heads);
  kinds.push_back({name, shape, {}});
  return kinds.back();
}

std::string millions(double parameters) { return std::to_string(std::llround(parameters / 1e6)); }

/// Linear work of the kind's layers, their mean; why it is not known when the file lacks something.
void read_linear_work(const ConfigObject& config, const std::string& model_type, const std::vector<Mixer>& mixers,
                      LayerKind& kind, std::vector<std::string>& remarks) {
  std::vector<double> parameters;
  try {
    for (const int layer : kind.layers)
      parameters.push_back(
          linear_parameters(config, model_type, mixers[static_cast<std::size_t>(layer)], kind.attention, layer));
  } catch (const InvalidInput& error) {
    kind.linear_unknown = error.what();
    return;
  }
  kind.linear_parameters = std::accumulate(parameters.begin(), parameters.end(), 0.0) / static_cast<double>(parameters.size());
  const auto [least, most] = std::minmax_element(parameters.begin(), parameters.end());
  if (*least < *most)
    remarks.push_back("linear work differs among the " + kind.name + " layers (" + millions(*least) + " to " + millions(*most) +
                      " million parameters per token): their mean is taken, " + millions(*kind.linear_parameters));
}

void read_kinds(const ConfigObject& config, const std::string& model_type, const std::vector<Mixer>& mixers, DType dtype,
                ModelShape& model) {
  int without_attention = 0;
  for (int layer = 0; layer < model.layers; ++layer) {
    const Mixer mixer = mixers[static_cast<std::size_t>(layer)];
    if (mixer == Mixer::none) {
      ++without_attention;
      continue;
    }
    const AttentionShape shape = read_attention(config, mixer, layer, dtype, model.remarks);
    kind_for(model.kinds, mixer, shape).layers.push_back(layer);
  }
  if (model.kinds.empty()) throw InvalidInput(config.file(), 0, "no layer has attention");
  if (without_attention > 0)
    model.remarks.push_back(std::to_string(without_attention) + " of " + std::to_string(model.layers) +
                            " layers have no attention; their linear work is in no layer's time");
  for (LayerKind& kind : model.kinds) read_linear_work(config, model_type, mixers, kind, model.remarks);
  std::stable_sort(model.kinds.begin(), model.kinds.end(),
                   [](const LayerKind& a, const LayerKind& b) { return a.layers.size() > b.layers.size(); });
}

/// "Qwen--Qwen3-8B.config.json" -> "Qwen--Qwen3-8B"; a plain config.json takes its folder's name.
std::string model_name(const std::filesystem::path& file) {
  std::string name = file.stem().string();
  if (name.ends_with(".config")) name.erase(name.size() - std::string_view(".config").size());
  const std::string folder = std::filesystem::absolute(file).parent_path().filename().string();
  return name == "config" && !folder.empty() ? folder : name;
}

}  // namespace

ModelShape parse_model_config(const std::string& json_text, const std::string& source) {
  require_text(json_text, source);
  const std::string_view begin = trimmed(json_text);
  if (begin.front() != '{')
    throw InvalidInput(source, 1,
                       "begins with " + shown(begin) + ", expected a JSON object in braces {...}, as config.json files hold");
  const nlohmann::json json = parse_json(json_text, source);
  const ConfigObject whole_file(json, source);
  const ConfigObject config = language_model(whole_file);
  refuse_unsupported_attention(config, whole_file);

  ModelShape model;
  model.name = source;
  const auto layers = config.required_number({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
  if (layers.value > kMostLayers)
    throw config.error(layers.key, "is " + std::to_string(layers.value) + ", expected at most " + std::to_string(kMostLayers));
  model.layers = layers.value;
  model.hidden = config.required_number({"hidden_size", "n_embd", "d_model"}).value;
  const std::string own_type = config.text("model_type");
  const std::string model_type = own_type.empty() ? whole_file.text("model_type") : own_type;

  const DType dtype = read_dtype(config, whole_file, model.remarks);
  const std::vector<Mixer> mixers = read_layer_mixers(config, model_type, model.layers, model.remarks);
  read_kinds(config, model_type, mixers, dtype, model);
  remark_unmodelled_details(config, model_type, model.remarks);
  return model;
}

ModelShape read_model_config(const std::filesystem::path& file) {
  ModelShape model = parse_model_config(read_input_text(file), file.string());
  model.name = model_name(file);
  return model;
}

}  // namespace hsap
