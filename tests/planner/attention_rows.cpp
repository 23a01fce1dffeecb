#include "tests/planner/attention_rows.hpp"

namespace hsap::test {

namespace {

ClusterTopology one_gpu(const std::string& gpu) {
  return ClusterTopology::parse("name: one GPU\nnodes: 1\ngpus_per_node: 1\ngpu: {" + gpu +
                                    "}\nisland: {kind: plain, gpus: 1, bandwidth: 100 GB/s, latency: 1 us}\n",
                                "one GPU");
}

}  // namespace

Schedule attention_of(const AttentionRow& row) {
  std::vector<Token> offsets;
  for (int d = 0; d <= row.documents; ++d) offsets.push_back(d * row.length);
  Schedule schedule;
  schedule.shape = {AttentionKind::softmax, row.query_heads, row.kv_heads, row.head_dim, row.head_dim, DType::bf16, {}};
  schedule.mask = DocumentMask(offsets);
  schedule.token_sets = {TokenSet{}, TokenSet{{0, offsets.back()}}};
  schedule.ranks.resize(1);
  RankProgram& program = schedule.ranks[0];
  std::vector<Slice> slices;
  for (const Role role : {Role::q, Role::k, Role::v, Role::o, Role::lse, Role::d_o, Role::d_q, Role::d_k, Role::d_v}) {
    const HeadRange heads{0, has_query_heads(role) ? row.query_heads : row.kv_heads};
    slices.push_back({static_cast<BufferId>(slices.size()), 1, heads});
    program.buffers.push_back({role, role == Role::lse ? DType::fp32 : DType::bf16, 1, heads, to_string(role)});
  }
  program.forward.push_back({0, kComputeStream, 0, {}, Attend{slices[0], slices[1], slices[2], slices[3], slices[4]}});
  program.backward.push_back(
      {0,
       kComputeStream,
       0,
       {},
       AttendBackward{slices[0], slices[1], slices[2], slices[3], slices[4], slices[5], slices[6], slices[7], slices[8]}});
  return schedule;
}

ClusterTopology h100(const std::string& name) {
  return one_gpu("kind: " + name +
                 ", bf16_dense: 989.4 TFLOP/s, memory_bandwidth: 3.35 TB/s, memory: 80 GB, multiprocessors: 132");
}

ClusterTopology a100(const std::string& name) {
  return one_gpu("kind: " + name +
                 ", bf16_dense: 312 TFLOP/s, memory_bandwidth: 2039 GB/s, memory: 80 GB, multiprocessors: 108");
}

}  // namespace hsap::test
