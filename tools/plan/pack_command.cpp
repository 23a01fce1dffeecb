// hsap-plan pack: the documents of global batches into replicas and micro-batches, and what that gains over first-fit.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/plan/commands.hpp"
#include "tools/plan/packing_json.hpp"
#include "tools/plan/packing_text.hpp"
#include "tools/whole_file.hpp"

namespace hsap {

namespace {

struct PackCommandOptions {
  PackOptions packing;
  std::string out;
  bool json = false;
};

void pack(const PackCommandOptions& options) {
  if (!options.out.empty()) require_writable(options.out);
  const PackRun run = run_packing(options.packing);
  if (!options.out.empty()) write_whole_file(options.out, packing_file_json(run, options.packing).dump() + "\n");
  if (options.json) {
    std::cout << packing_report_json(run, options.packing).dump(2) << '\n' << std::flush;
    return;
  }
  std::cout << run.description(options.packing.inputs.seed) << '\n' << packing_text(run, options.packing);
  if (!options.out.empty()) std::cout << "written    " << options.out << '\n';
  std::cout << std::flush;
}

}  // namespace

void add_pack_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "pack",
      "Pack the documents of global batches into replicas and micro-batches, or one pool of ranks, and compare with first-fit");
  const auto options = std::make_shared<PackCommandOptions>();
  add_pack_options(*command, options->packing);
  command->add_option("--out", options->out, "File to write the packing to: documents and cu_seqlens of every micro-batch")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON instead of tables");
  command->footer(
      "Example:\n  hsap-plan pack --cluster dgx-h100 --gpus 16 --lengths wikipedia --tokens 1048576 --tokens-per-rank 16384 "
      "\\\n"
      "      --dp 4 --out packing.json");
  command->callback([options] { pack(*options); });
}

}  // namespace hsap
