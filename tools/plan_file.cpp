#include "tools/plan_file.hpp"

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

  double seconds(const std::string& key) const {
    if (!at(key).is_number()) throw wrong(key, "a number of seconds");
    return at(key).get<double>();
  }

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

StrategyOptions read_options(const Section& options) {
  StrategyOptions result;
  if (!options.at("placement").is_null()) result.placement = options.text("placement");
  if (!options.at("stages").is_null()) result.stages = options.count<int>("stages");
  return result;
}

}  // namespace

Json to_json(const StrategyOptions& options) {
  return {{"placement", options.placement.empty() ? Json() : Json(options.placement)},
          {"stages", options.stages == 0 ? Json() : Json(options.stages)}};
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
        {"documents", plan.schedule.mask.documents()}}},
      {"strategy", plan.schedule.strategy},
      {"degrees", to_string(plan.schedule.degrees)},
      {"attention", to_string(plan.schedule.shape.kind)},
      {"options", to_json(plan.options)},
      {"predicted",
       {{"evaluator", plan.predicted.evaluator},
        {"device", plan.predicted.device},
        {"forward_seconds", plan.predicted.forward_seconds},
        {"backward_seconds", plan.predicted.backward_seconds}}},
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
  plan.options = read_options(top.section("options"));
  plan.predicted = {predicted.text("evaluator"), predicted.text("device"), predicted.seconds("forward_seconds"),
                    predicted.seconds("backward_seconds")};
  try {
    plan.schedule = schedule_from_json(top.at("schedule"));
    verify(plan.schedule, plan.schedule.mask);
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
