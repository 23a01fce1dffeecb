// Real config.json files: each reads as its model is, or is refused in one line that names the key.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "planner/inputs/model_shape.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;
using Degrees = std::vector<int>;

/// The folder of model files. Ends the process as skipped (CTest: SKIP_RETURN_CODE 77) when this machine does not have it.
std::filesystem::path corpus() {
  const std::filesystem::path folder = std::filesystem::path(HSAP_SHARED_DIR) / "corpus" / "models";
  if (!std::filesystem::is_directory(folder)) {
    std::cout << "skipped: " << folder << " is not on this machine\n";
    std::exit(77);
  }
  return folder;
}

struct KindFacts {
  std::string name;
  std::size_t layers;
  int query_heads, kv_heads, qk_dim, v_dim;
  Token window = 0;  ///< 0 = none
};

struct ModelFacts {
  std::string file;
  int layers, hidden;
  DType dtype;
  std::vector<KindFacts> kinds;
  Degrees degrees;  ///< head-parallel degrees that all softmax kinds allow, KV heads replicated where needed
};

constexpr DType kBf16 = DType::bf16;
constexpr DType kFp16 = DType::fp16;
const Degrees kUpTo16 = {1, 2, 4, 8, 16};
const Degrees kUpTo32 = {1, 2, 4, 8, 16, 32};
const Degrees kUpTo64 = {1, 2, 4, 8, 16, 32, 64};
const Degrees kUpTo128 = {1, 2, 4, 8, 16, 32, 64, 128};

// clang-format off
const std::vector<ModelFacts> kModels = {
    {"MiniMaxAI--MiniMax-M2.5", 62, 3072, kBf16, {{"full", 62, 48, 8, 128, 128}}, {1, 2, 4, 8, 16, 24, 48}},
    {"Qwen--Qwen2.5-1.5B", 28, 1536, kBf16, {{"full", 28, 12, 2, 128, 128}}, {1, 2, 4, 6, 12}},
    {"Qwen--Qwen2.5-32B", 64, 5120, kBf16, {{"full", 64, 40, 8, 128, 128}}, {1, 2, 4, 8, 40}},
    {"Qwen--Qwen2.5-7B", 28, 3584, kBf16, {{"full", 28, 28, 4, 128, 128}}, {1, 2, 4, 28}},
    {"Qwen--Qwen3-0.6B", 28, 1024, kBf16, {{"full", 28, 16, 8, 128, 128}}, kUpTo16},
    {"Qwen--Qwen3-235B-A22B", 94, 4096, kBf16, {{"full", 94, 64, 4, 128, 128}}, kUpTo64},
    {"Qwen--Qwen3-30B-A3B", 48, 2048, kBf16, {{"full", 48, 32, 4, 128, 128}}, kUpTo32},
    {"Qwen--Qwen3-8B", 36, 4096, kBf16, {{"full", 36, 32, 8, 128, 128}}, kUpTo32},
    {"Qwen--Qwen3-Coder-480B-A35B-Instruct", 62, 6144, kBf16, {{"full", 62, 96, 8, 128, 128}}, {1, 2, 4, 8, 16, 24, 32, 48, 96}},
    {"Qwen--Qwen3-VL-235B-A22B-Instruct", 94, 4096, kBf16, {{"full", 94, 64, 4, 128, 128}}, kUpTo64},
    {"Qwen--Qwen3-VL-8B-Instruct", 36, 4096, kBf16, {{"full", 36, 32, 8, 128, 128}}, kUpTo32},
    {"Qwen--Qwen3.5-27B", 64, 5120, kBf16, {{"linear", 48, 48, 48, 128, 128}, {"full", 16, 24, 4, 256, 256}}, {1, 2, 4, 8, 12, 24}},
    {"Qwen--Qwen3.5-397B-A17B", 60, 4096, kBf16, {{"linear", 45, 64, 64, 128, 128}, {"full", 15, 32, 2, 256, 256}}, kUpTo32},
    {"XiaomiMiMo--MiMo-V2-Flash", 48, 4096, kBf16, {{"sliding", 39, 64, 8, 192, 128, 128}, {"full", 9, 64, 4, 192, 128}}, kUpTo64},
    {"deepseek-ai--DeepSeek-R1", 61, 7168, kBf16, {{"full", 61, 128, 128, 192, 128}}, kUpTo128},
    {"deepseek-ai--DeepSeek-V3", 61, 7168, kBf16, {{"full", 61, 128, 128, 192, 128}}, kUpTo128},
    {"google--gemma-2-2b-it", 26, 2304, kBf16, {{"sliding", 13, 8, 4, 256, 256, 4096}, {"full", 13, 8, 4, 256, 256}}, {1, 2, 4, 8}},
    {"google--gemma-3-4b-text_config-excerpt", 34, 2560, kBf16, {{"sliding", 29, 8, 4, 256, 256, 1024}, {"full", 5, 8, 4, 256, 256}}, {1, 2, 4, 8}},
    {"google--gemma-4-26B-A4B", 30, 2816, kBf16, {{"sliding", 25, 16, 8, 256, 256, 1024}, {"full", 5, 16, 2, 512, 512}}, kUpTo16},
    {"meta-llama--Llama-2-13b-hf", 40, 5120, kFp16, {{"full", 40, 40, 40, 128, 128}}, {1, 2, 4, 5, 8, 10, 20, 40}},
    {"meta-llama--Llama-2-70b-hf", 80, 8192, kFp16, {{"full", 80, 64, 8, 128, 128}}, kUpTo64},
    {"meta-llama--Meta-Llama-3.1-70B", 80, 8192, kBf16, {{"full", 80, 64, 8, 128, 128}}, kUpTo64},
    {"meta-llama--Meta-Llama-3.1-8B", 32, 4096, kBf16, {{"full", 32, 32, 8, 128, 128}}, kUpTo32},
    {"mistralai--Mistral-7B-Instruct-v0.3", 32, 4096, kBf16, {{"full", 32, 32, 8, 128, 128}}, kUpTo32},
    {"mistralai--Mixtral-8x22B-v0.1", 56, 6144, kBf16, {{"full", 56, 48, 8, 128, 128}}, {1, 2, 4, 8, 16, 24, 48}},
    {"moonshotai--Kimi-K2-Instruct", 61, 7168, kBf16, {{"full", 61, 64, 64, 192, 128}}, kUpTo64},
    {"moonshotai--Kimi-K2.5", 61, 7168, kBf16, {{"full", 61, 64, 64, 192, 128}}, kUpTo64},
    {"nvidia--Llama-3_3-Nemotron-Super-49B-v1", 80, 8192, kBf16, {{"full", 49, 64, 8, 128, 128}}, kUpTo64},
    {"nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 52, 2688, kBf16, {{"linear", 23, 64, 64, 128, 64}, {"full", 6, 32, 2, 128, 128}}, kUpTo32},
    {"nvidia--Nemotron-H-56B-Base-8K", 118, 8192, kBf16, {{"linear", 54, 256, 256, 256, 64}, {"full", 10, 64, 8, 128, 128}}, kUpTo64},
    {"openai--gpt-oss-120b", 36, 2880, kBf16, {{"sliding", 18, 64, 8, 64, 64, 128}, {"full", 18, 64, 8, 64, 64}}, kUpTo64},
    {"openai-community--gpt2-large", 36, 1280, kBf16, {{"full", 36, 20, 20, 64, 64}}, {1, 2, 4, 5, 10, 20}},
    {"stepfun-ai--Step-3.7-Flash", 45, 4096, kBf16, {{"sliding", 33, 64, 8, 128, 128, 512}, {"full", 12, 64, 8, 128, 128}}, kUpTo64},
    {"tiiuae--falcon-40b-instruct", 60, 8192, kBf16, {{"full", 60, 128, 8, 64, 64}}, kUpTo128},
};
// clang-format on

struct Refusal {
  const char* file;
  const char* message;
};
constexpr Refusal kRefused[] = {
    {"MiniMaxAI--MiniMax-M3.config.json", "sparse_attention_config asks for sparse attention"},
    {"deepseek-ai--DeepSeek-V3.2.config.json", "index_topk is 2048: sparse attention by a top-k indexer"},
    {"deepseek-ai--DeepSeek-V4-Pro.config.json", "compress_ratios is an array: compressed attention"},
    {"meta-llama--Llama-4-Maverick-17B-128E-Instruct.config.json",
     "text_config.attention_chunk_size is 8192: which layers are chunked is not in the file"},
    {"meta-llama--Llama-4-Scout-17B-16E-Instruct.config.json",
     "text_config.attention_chunk_size is 8192: which layers are chunked is not in the file"},
    {"zai-org--GLM-5.2.config.json", "index_topk is 2048: sparse attention by a top-k indexer"},
    {"FRAGMENT-gptneox-25b-heads-dont-divide.txt", ":1: begins with"},
};

std::string refusal(const std::string& text, const std::string& source) {
  try {
    parse_model_config(text, source);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Degrees common_degrees(const ModelShape& model) {
  Degrees common;
  for (const LayerKind& kind : model.kinds) {
    if (kind.attention.kind == AttentionKind::linear) continue;
    const Degrees degrees = head_parallel_degrees(kind.attention);
    Degrees both;
    std::set_intersection(common.begin(), common.end(), degrees.begin(), degrees.end(), std::back_inserter(both));
    common = common.empty() ? degrees : both;
  }
  return common;
}

TEST_CASE("models corpus: every file is in one of the tables here") {
  std::set<std::string> expected;
  for (const ModelFacts& facts : kModels) expected.insert(facts.file + ".config.json");
  for (const Refusal& refused : kRefused) expected.insert(refused.file);
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(corpus())) found.insert(entry.path().filename());
  CHECK(found == expected);
}

TEST_CASE("models corpus: layers, kinds, heads, widths, windows and head-parallel degrees are those of the model") {
  for (const ModelFacts& facts : kModels) {
    CAPTURE(facts.file);
    const ModelShape model = read_model_config(corpus() / (facts.file + ".config.json"));
    CHECK(model.name == facts.file);
    CHECK(model.layers == facts.layers);
    CHECK(model.hidden == facts.hidden);
    CHECK(common_degrees(model) == facts.degrees);
    REQUIRE(model.kinds.size() == facts.kinds.size());
    for (std::size_t i = 0; i < facts.kinds.size(); ++i) {
      const LayerKind& kind = model.kinds[i];
      const KindFacts& expected = facts.kinds[i];
      CAPTURE(kind.name);
      CHECK(kind.name == expected.name);
      CHECK(kind.layers.size() == expected.layers);
      CHECK((kind.attention.kind == AttentionKind::linear) == (expected.name == "linear"));
      CHECK(kind.attention.query_heads == expected.query_heads);
      CHECK(kind.attention.kv_heads == expected.kv_heads);
      CHECK(kind.attention.qk_dim == expected.qk_dim);
      CHECK(kind.attention.v_dim == expected.v_dim);
      CHECK(kind.attention.mask == (expected.window > 0 ? window_rule(expected.window) : MaskRule{}));
      CHECK(kind.attention.dtype == facts.dtype);
    }
  }
}

TEST_CASE("models corpus: which layers are full, where a list or a family says so") {
  const auto full = [](const char* file) { return read_model_config(corpus() / file).kind("full").layers; };
  CHECK(full("google--gemma-3-4b-text_config-excerpt.config.json") == std::vector<int>{5, 11, 17, 23, 29});
  CHECK(full("google--gemma-2-2b-it.config.json") == std::vector<int>{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25});
  CHECK(full("XiaomiMiMo--MiMo-V2-Flash.config.json") == std::vector<int>{0, 5, 11, 17, 23, 29, 35, 41, 47});
  CHECK(full("nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16.config.json") == std::vector<int>{5, 12, 19, 26, 33, 42});
}

TEST_CASE("models corpus: what hsap does not model, and what is no config, is refused in one line naming file and key") {
  for (const Refusal& refused : kRefused) {
    const std::string message = refusal(text_of(corpus() / refused.file), refused.file);
    CAPTURE(message);
    CHECK_THAT(message, Catch::StartsWith(refused.file) && Contains(refused.message));
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("models corpus: the fragment in braces is refused because its heads do not divide its width") {
  const std::string text = text_of(corpus() / "FRAGMENT-gptneox-25b-heads-dont-divide.txt");
  CHECK(refusal("{" + text + "}", "f") == "f: hidden_size 8196 % num_attention_heads 64 != 0, give head_dim");
}

/// What a model's publisher says of its parameters; `outside`: of them, those of tables and output, which no layer has.
struct PublishedParameters {
  const char* file;
  double active;   ///< that a token goes through
  double outside;  ///< counted in `active` but in no layer
  double tolerance;
};
// Sources: model cards on Hugging Face, and for DeepSeek-V3 and Kimi K2 their reports (37 and 32 billion activated). Outside:
// vocabulary x hidden, once where the card's figure is of the work (output only), twice where it counts the input table, too.
constexpr PublishedParameters kPublished[] = {
    {"meta-llama--Meta-Llama-3.1-8B", 8.03e9, 2 * 128256 * 4096.0, 1e-3},
    {"meta-llama--Meta-Llama-3.1-70B", 70.6e9, 2 * 128256 * 8192.0, 1e-3},
    {"meta-llama--Llama-2-13b-hf", 13.02e9, 2 * 32000 * 5120.0, 1e-3},
    {"Qwen--Qwen3-8B", 6.95e9, 0, 1e-3},
    {"Qwen--Qwen2.5-7B", 6.53e9, 0, 1e-3},
    {"Qwen--Qwen3-30B-A3B", 3.3e9, 2 * 151936 * 2048.0, 0.02},
    {"Qwen--Qwen3-235B-A22B", 22e9, 2 * 151936 * 4096.0, 0.02},
    {"mistralai--Mixtral-8x22B-v0.1", 39e9, 2 * 32768 * 6144.0, 0.01},
    {"deepseek-ai--DeepSeek-V3", 37e9, 129280 * 7168.0, 0.02},
    {"moonshotai--Kimi-K2-Instruct", 32e9, 163840 * 7168.0, 0.02},
    {"openai--gpt-oss-120b", 5.13e9, 201088 * 2880.0, 0.01},
    {"openai-community--gpt2-large", 774e6, (50257 + 1024) * 1280.0, 2e-3},
    {"Qwen--Qwen3.5-27B", 27e9, 2 * 248320 * 5120.0, 0.02},
};

TEST_CASE("models corpus: linear parameters of all layers are the published active parameters") {
  for (const PublishedParameters& published : kPublished) {
    CAPTURE(published.file);
    const ModelShape model = read_model_config(corpus() / (std::string(published.file) + ".config.json"));
    double parameters = 0;
    for (const LayerKind& kind : model.kinds)
      parameters += static_cast<double>(kind.layers.size()) * kind.known_linear_parameters();
    CHECK(parameters == Approx(published.active - published.outside).epsilon(published.tolerance));
  }
}

TEST_CASE("models corpus: every file tells the linear work of all its kinds of layers") {
  for (const ModelFacts& facts : kModels) {
    CAPTURE(facts.file);
    for (const LayerKind& kind : read_model_config(corpus() / (facts.file + ".config.json")).kinds) {
      CAPTURE(kind.name, kind.linear_unknown);
      CHECK(kind.linear_parameters.value_or(0) > 0);
    }
  }
}

TEST_CASE("models corpus: presets are the models of the files") {
  const std::pair<const char*, const char*> pairs[] = {{"Llama-3.1-8B", "meta-llama--Meta-Llama-3.1-8B"},
                                                       {"Llama-3.1-70B", "meta-llama--Meta-Llama-3.1-70B"},
                                                       {"Llama-2-13B", "meta-llama--Llama-2-13b-hf"},
                                                       {"Qwen2.5-7B", "Qwen--Qwen2.5-7B"},
                                                       {"Qwen3-8B", "Qwen--Qwen3-8B"},
                                                       {"Qwen3-235B-A22B", "Qwen--Qwen3-235B-A22B"},
                                                       {"Mixtral-8x22B", "mistralai--Mixtral-8x22B-v0.1"},
                                                       {"DeepSeek-V3", "deepseek-ai--DeepSeek-V3"},
                                                       {"gpt-oss-120b", "openai--gpt-oss-120b"},
                                                       {"Gemma-3-4B", "google--gemma-3-4b-text_config-excerpt"},
                                                       {"Qwen3.5-27B", "Qwen--Qwen3.5-27B"}};
  CHECK(std::size(pairs) == model_preset_names().size());
  for (const auto& [preset, file] : pairs) {
    CAPTURE(preset);
    const ModelShape built_in = model_preset(preset);
    const ModelShape model = read_model_config(corpus() / (std::string(file) + ".config.json"));
    CHECK(built_in.layers == model.layers);
    CHECK(built_in.hidden == model.hidden);
    REQUIRE(built_in.kinds.size() == model.kinds.size());
    for (std::size_t i = 0; i < model.kinds.size(); ++i) {
      CHECK(built_in.kinds[i].name == model.kinds[i].name);
      CHECK(built_in.kinds[i].attention == model.kinds[i].attention);
      CHECK(built_in.kinds[i].layers == model.kinds[i].layers);
      CHECK(built_in.kinds[i].linear_parameters == model.kinds[i].linear_parameters);
    }
  }
}

TEST_CASE("models corpus: cut at any place, a config is refused in one line") {
  const std::string text = text_of(corpus() / "Qwen--Qwen3-8B.config.json");
  for (std::size_t length = 0; length + 1 < text.size(); length += 7) {
    const std::string message = refusal(text.substr(0, length), "f");
    CAPTURE(length, message);
    CHECK_THAT(message, Catch::StartsWith("f:"));
    CHECK(message.find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace hsap
