#include "tools/run/expectations.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "planner/ir/errors.hpp"
#include "planner/ir/units.hpp"
#include "tools/command_line.hpp"

namespace hsap {

namespace {

[[noreturn]] void mismatch(const std::string& option, const std::string& value, const std::string& plan_has,
                           const std::string& expected) {
  throw InvalidInput(option + " " + value + ": the plan was made for " + plan_has + ", not for " + expected +
                     "; make a plan for that with hsap-plan plan");
}

void check_degrees(const std::string& value, const PlanFile& plan) {
  const Degrees expected = parse_degrees(value);
  if (!(expected == plan.schedule.degrees))
    mismatch("--degrees", value, "degrees " + to_string(plan.schedule.degrees), "degrees " + to_string(expected));
}

void check_tokens(Token expected, const PlanFile& plan) {
  if (expected != plan.recipe.tokens)
    mismatch("--tokens", std::to_string(expected), format_count(plan.recipe.tokens) + " tokens", format_count(expected));
}

std::string gpus_text(const std::vector<GpuId>& gpus) {
  std::string text = std::to_string(gpus.size()) + " GPUs (";
  for (std::size_t i = 0; i < gpus.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(gpus[i]);
  return text + ")";
}

void check_gpus(const std::string& value, const PlanFile& plan) {
  const std::vector<GpuId> expected = parse_gpus(value, ClusterTopology::parse(plan.cluster_text, plan.cluster_name));
  if (expected != plan.gpus) mismatch("--gpus", value, gpus_text(plan.gpus), gpus_text(expected));
}

void check_model(const std::string& value, const PlanFile& plan) {
  const ChosenLayer expected = read_layer(value, "");
  if (expected.model.name != plan.model) mismatch("--model", value, "model " + plan.model, "model " + expected.model.name);
  AttentionShape shape = expected.model.kind(plan.layer).attention;
  if (shape.kind == AttentionKind::linear) shape.decay = plan.schedule.shape.decay;  // which --decay may have changed
  if (plan.mask) shape.mask = plan.schedule.shape.mask;  // which is what was asked for, not what the model has
  const bool same = shape == plan.schedule.shape || linear_counterpart(shape) == plan.schedule.shape;
  if (!same) mismatch("--model", value, "layer " + plan.layer + " with " + describe(plan.schedule.shape), describe(shape));
}

void check_mask(const std::string& value, const PlanFile& plan) {
  const MaskRule expected = parse_mask_rule(value);
  const MaskRule& found = plan.schedule.mask.rule();
  if (expected != found) mismatch("--mask", value, "mask rule " + to_string(found), to_string(expected));
}

std::string documents_text(const std::vector<Token>& offsets) {
  return format_count(static_cast<long long>(offsets.size() - 1)) + " documents with " + format_count(offsets.back()) +
         " tokens";
}

void check_lengths(const std::string& value, const std::optional<std::string>& column, const PlanFile& plan) {
  const BatchRecipe& recipe = plan.recipe;
  const ChosenBatch expected = read_batch(value, column, recipe.tokens, recipe.batch, recipe.seed);
  const std::vector<Token>& found = plan.schedule.mask.offsets();
  const std::vector<Token>& wanted = expected.batch.offsets;
  if (found == wanted) return;
  const auto first = std::mismatch(found.begin(), found.end(), wanted.begin(), wanted.end()).first;
  mismatch("--lengths", value, recipe.lengths + " (" + documents_text(found) + ")",
           expected.recipe.lengths + " (" + documents_text(wanted) + "); document " +
               std::to_string(first - found.begin() - 1) + " is the first that differs");
}

}  // namespace

void add_expectation_options(CLI::App& command, Expectations& expectations) {
  const std::string group = "What you believe you run (a plan made for anything else is refused)";
  command.add_option("--lengths", expectations.lengths, "Document lengths, packed as the plan's were")
      ->type_name("FILE|NAME")
      ->group(group);
  command.add_option("--column", expectations.column, "Column of a CSV or JSONL file of lengths")
      ->type_name("NAME")
      ->group(group);
  command.add_option("--model", expectations.model, "Model")->type_name("FILE|NAME")->group(group);
  command.add_option("--mask", expectations.mask, "Mask rule")->type_name("RULE")->group(group);
  command.add_option("--tokens", expectations.tokens, "Tokens of a batch")->type_name("N")->check(kWholeNumber)->group(group);
  command.add_option("--degrees", expectations.degrees, "Degrees")->type_name("AxB")->group(group);
  command.add_option("--gpus", expectations.gpus, "GPUs of the plan's cluster")->type_name("N|0,1,...")->group(group);
}

void check_expectations(const Expectations& expectations, const PlanFile& plan) {
  if (expectations.degrees) check_degrees(*expectations.degrees, plan);
  if (expectations.tokens) check_tokens(*expectations.tokens, plan);
  if (expectations.gpus) check_gpus(*expectations.gpus, plan);
  if (expectations.model) check_model(*expectations.model, plan);
  if (expectations.mask) check_mask(*expectations.mask, plan);
  if (expectations.lengths) check_lengths(*expectations.lengths, expectations.column, plan);
}

}  // namespace hsap
