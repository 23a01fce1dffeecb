// allgather: contiguous shards, all KV gathered on every rank by slices of heads (Llama 3, arXiv 2407.21783, section 3.3.2, as
// llama3_flash_attn_varlen of ring-flash-attention does it); backward gathers again, unless K and V are kept, and
// reduce-scatters d_k, d_v in the model's dtype (kv_gather.hpp).
#include "planner/placement/placement.hpp"
#include "planner/strategies/kv_gather.hpp"

namespace hsap {

namespace {

constexpr int kMostSlices =
    4;  // of the KV heads; llama3_flash_attn calls it heads_k_stride (ours: a quarter, where it divides)

class AllGather : public Strategy {
 public:
  std::string name() const override { return "allgather"; }
  std::string summary() const override { return "contiguous shards, all KV gathered by slices of heads"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::softmax; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }
  std::vector<std::string> options() const override { return {"stages", "kv", "dkv-dtype"}; }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override {
    ProgramBuilder builder(name(), degrees, problem, place_contiguous(problem.mask, problem.ranks));
    gather_attention(builder, problem,
                     {.slices = options.stages > 0 ? options.stages : kMostSlices,
                      .keep_kv = options.kv == KvForBackward::kept,
                      .gradient = options.d_kv.value_or(problem.shape.dtype)});
    return builder.take();
  }
};

}  // namespace

const Strategy& allgather_strategy() {
  static const AllGather strategy;
  return strategy;
}

}  // namespace hsap
