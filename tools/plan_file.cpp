#include "tools/plan_file.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include "planner/inputs/input_json.hpp"
#include "planner/inputs/input_text.hpp"
#include "planner/ir/errors.hpp"
#include "planner/ir/schedule_json.hpp"
#include "planner/ir/verify.hpp"
#include "tools/whole_file.hpp"

namespace hsap {

namespace {

using Json = nlohmann::ordered_json;

/// One object of the file; `path` names it in messages ("inputs").
class Section {
 public:
  Section(const std::string& file, const nlohmann::json& object, std::string path)
      : file_(file), object_(object), path_(std::move(path)) {
    if (!object_.is_object()) throw InvalidInput(file_, 0, named("") + "found " + shown(object_) + ", expected an object");
  }

  const nlohmann::json& at(const std::string& key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) throw InvalidInput(file_, 0, named(key) + "is missing; is this a plan that hsap-plan wrote?");
    return *found;
  }

  Section section(const std::string& key) const { return {file_, at(key), path_.empty() ? key : path_ + "." + key}; }

  std::string text(const std::string& key) const {
    if (!at(key).is_string()) throw wrong(key, "text");
    return at(key).get<std::string>();
  }

  template <class Number>
  Number count(const std::string& key) const {
    if (!at(key).is_number_unsigned()) throw wrong(key, "a whole number from 0");
    return at(key).get<Number>();
  }

  double seconds(const std::string& key) const { return number(key, "a number of seconds"); }

  double number(const std::string& key, const std::string& expected) const {
    if (!at(key).is_number()) throw wrong(key, expected);
    return at(key).get<double>();
  }

  /// Is there and not null: what a plan may leave out.
  bool has(const std::string& key) const { return object_.contains(key) && !object_.at(key).is_null(); }

  InvalidInput wrong(const std::string& key, const std::string& expected) const {
    return {file_, 0, named(key) + "found " + shown(at(key)) + ", expected " + expected};
  }

 private:
  std::string named(const std::string& key) const {
    const std::string name = path_.empty() || key.empty() ? path_ + key : path_ + "." + key;
    return name.empty() ? "" : name + ": ";
  }

  const std::string& file_;
  const nlohmann::json& object_;
  std::string path_;
};

std::vector<GpuId> read_gpus(const Section& inputs) {
  std::vector<GpuId> gpus;
  if (!inputs.at("gpus").is_array()) throw inputs.wrong("gpus", "a list of GPU numbers");
  for (const nlohmann::json& gpu : inputs.at("gpus")) {
    if (!gpu.is_number_unsigned()) throw inputs.wrong("gpus", "a list of GPU numbers");
    gpus.push_back(gpu.get<GpuId>());
  }
  return gpus;
}

StrategyOptions read_options(const std::string& file, const nlohmann::json& options) {
  StrategyOptions result;
  if (!options.is_object()) throw InvalidInput(file, 0, "options: expected an object");
  for (const auto& [name, value] : options.items()) {
    const auto field = std::find_if(option_fields().begin(), option_fields().end(),
                                    [&name = name](const OptionField& f) { return f.name == name; });
    if (field == option_fields().end()) throw InvalidInput(file, 0, "options: \"" + name + "\" is not an option");
    field->set(result, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return result;
}

Json layer_json(const Prediction& predicted) {
  if (!predicted.layer) return nullptr;
  return {{"forward_seconds", predicted.layer->forward_seconds}, {"backward_seconds", predicted.layer->backward_seconds}};
}

/// What was chosen by, and the layer beside its attention.
void read_objective(const std::string& file, const Section& inputs, const Section& predicted, PlanFile& plan) {
  if (inputs.has("linear_parameters"))
    plan.linear_parameters = inputs.number("linear_parameters", "a number of parameters, or null");
  if (predicted.has("layer")) {
    const Section layer = predicted.section("layer");
    plan.predicted.layer = {layer.seconds("forward_seconds"), layer.seconds("backward_seconds")};
  }
  if (inputs.has("barrier")) {
    if (!inputs.at("barrier").is_boolean()) throw inputs.wrong("barrier", "true or false");
    plan.barrier = inputs.at("barrier").get<bool>();
  }
  if (!inputs.has("objective")) return;
  try {
    plan.objective = parse_objective(inputs.text("objective"));
  } catch (const InvalidInput& error) {
    throw InvalidInput(file, 0, std::string("inputs.") + error.what());
  }
  if (plan.objective == Objective::layer && !plan.linear_parameters)
    throw inputs.wrong("objective", "attention, since linear_parameters is missing");
}

std::vector<Token> read_offsets(const std::string& file, const nlohmann::json& list) {
  if (!list.is_array()) throw InvalidInput(file, 0, "contaminated: expected a list of document offsets");
  std::vector<Token> offsets;
  for (const nlohmann::json& offset : list) {
    if (!offset.is_number_unsigned()) throw InvalidInput(file, 0, "contaminated: expected a list of document offsets");
    offsets.push_back(offset.get<Token>());
  }
  return offsets;
}

}  // namespace

Json to_json(const StrategyOptions& options) {
  Json json = Json::object();
  for (const OptionField& field : option_fields()) {
    const std::string value = field.value(options);
    if (value.empty()) continue;
    const bool is_number = std::all_of(value.begin(), value.end(), [](char c) { return '0' <= c && c <= '9'; });
    json[field.name] = is_number ? Json(std::stoll(value)) : Json(value);
  }
  return json;
}

LinearWork PlanFile::linear_work(const KernelTimes& kernels) const {
  if (objective == Objective::attention || !linear_parameters) return {};
  LinearWork work =
      hsap::linear_work(*linear_parameters, schedule.shape.dtype, static_cast<int>(schedule.ranks.size()), kernels);
  work.barrier = barrier;
  return work;
}

void write_plan_file(const std::filesystem::path& file, const PlanFile& plan) {
  const Json json = {
      {"version", kPlanFileVersion},
      {"inputs",
       {{"cluster", plan.cluster_name},
        {"gpus", plan.gpus},
        {"model", plan.model},
        {"layer", plan.layer},
        {"mask", plan.mask ? Json(*plan.mask) : Json()},
        {"lengths", plan.recipe.lengths},
        {"tokens", plan.recipe.tokens},
        {"batch", plan.recipe.batch},
        {"seed", plan.recipe.seed},
        {"documents", plan.batch_mask().documents()},
        {"objective", to_string(plan.objective)},
        {"barrier", plan.barrier},
        {"linear_parameters", plan.linear_parameters ? Json(*plan.linear_parameters) : Json()}}},
      {"strategy", plan.schedule.strategy},
      {"degrees", to_string(plan.schedule.degrees)},
      {"attention", to_string(plan.schedule.shape.kind)},
      {"options", to_json(plan.options)},
      {"predicted",
       {{"evaluator", plan.predicted.evaluator},
        {"device", plan.predicted.device},
        {"forward_seconds", plan.predicted.forward_seconds},
        {"backward_seconds", plan.predicted.backward_seconds},
        {"layer", layer_json(plan.predicted)}}},
      {"contaminated", plan.contaminated ? Json(*plan.contaminated) : Json()},
      {"cluster_yaml", plan.cluster_text},
      {"schedule", to_json(plan.schedule)},
  };
  write_whole_file(file, json.dump() + "\n");
}

PlanFile read_plan_file(const std::filesystem::path& file) {
  const std::string name = file.string();
  const std::string text = read_input_text(file);
  require_text(text, name);
  const nlohmann::json json = parse_json(text, name);
  const Section top(name, json, "");
  if (const int version = top.count<int>("version"); version != kPlanFileVersion)
    throw InvalidInput(name, 0,
                       "version: found " + std::to_string(version) + ", expected " + std::to_string(kPlanFileVersion) +
                           "; make the plan again with this hsap-plan");
  const Section inputs = top.section("inputs");
  const Section predicted = top.section("predicted");
  PlanFile plan;
  plan.cluster_name = inputs.text("cluster");
  plan.cluster_text = top.text("cluster_yaml");
  plan.gpus = read_gpus(inputs);
  plan.model = inputs.text("model");
  plan.layer = inputs.text("layer");
  if (!inputs.at("mask").is_null()) plan.mask = inputs.text("mask");
  plan.recipe = {inputs.text("lengths"), inputs.count<Token>("tokens"), inputs.count<std::size_t>("batch"),
                 inputs.count<std::uint64_t>("seed")};
  plan.options = read_options(name, top.at("options"));
  if (!top.at("contaminated").is_null()) plan.contaminated = read_offsets(name, top.at("contaminated"));
  plan.predicted = {predicted.text("evaluator"),
                    predicted.text("device"),
                    predicted.seconds("forward_seconds"),
                    predicted.seconds("backward_seconds"),
                    {}};
  read_objective(name, inputs, predicted, plan);
  try {
    plan.schedule = schedule_from_json(top.at("schedule"));
    verify(plan.schedule, plan.schedule.mask);
    if (plan.batch_mask().tokens() != plan.schedule.mask.tokens())
      throw InvalidInput("has " + std::to_string(plan.schedule.mask.tokens()) + " tokens, the batch " +
                         std::to_string(plan.batch_mask().tokens()));
  } catch (const InvalidInput& error) {
    throw InvalidInput(name, 0, std::string("schedule: ") + error.what());
  }
  return plan;
}

std::string describe(const std::string& strategy, const Degrees& degrees, const StrategyOptions& options) {
  const std::string details = to_string(options);
  return strategy + " " + to_string(degrees) + (details.empty() ? "" : " (" + details + ")");
}

}  // namespace hsap
