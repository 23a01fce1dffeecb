// Writing. The form, read back by schedule_json_reader.cpp: token sets and offsets are flat arrays of numbers, a slice is
// [buffer, token set, first head, end head], enums are their names, `after` is left out when empty.
#include "planner/ir/schedule_json.hpp"

#include <nlohmann/json.hpp>

namespace hsap {

namespace {

using nlohmann::json;

json write(const Slice& slice) { return json::array({slice.buffer, slice.tokens, slice.heads.begin, slice.heads.end}); }

json write(const PooledList<Message>& messages) {
  json list = json::array();
  for (const Message& message : messages) {
    json parts = json::array();
    for (const Slice& part : message.parts) parts.push_back(write(part));
    list.push_back({{"peer", message.peer}, {"parts", std::move(parts)}});
  }
  return list;
}

json write(const TransferList& terms) {
  json list = json::array();
  for (const Transfer& term : terms) list.push_back(json::array({write(term.from), write(term.into)}));
  return list;
}

void write_body(const Exchange& op, json& into) {
  into["sends"] = write(op.sends);
  into["recvs"] = write(op.recvs);
}

void write_body(const Attend& op, json& into) {
  into["q"] = write(op.q), into["k"] = write(op.k), into["v"] = write(op.v), into["o"] = write(op.o);
  if (op.lse) into["lse"] = write(*op.lse);
}

void write_body(const Merge& op, json& into) {
  into["from_o"] = write(op.from_o), into["from_lse"] = write(op.from_lse);
  into["o"] = write(op.o), into["lse"] = write(op.lse);
}

void write_body(const Delta& op, json& into) {
  into["o"] = write(op.o), into["d_o"] = write(op.d_o), into["delta"] = write(op.delta);
}

void write_body(const AttendBackward& op, json& into) {
  into["q"] = write(op.q), into["k"] = write(op.k), into["v"] = write(op.v);
  if (op.o) into["o"] = write(*op.o);
  if (op.lse) into["lse"] = write(*op.lse);
  into["d_o"] = write(op.d_o);
  into["d_q"] = write(op.d_q), into["d_k"] = write(op.d_k), into["d_v"] = write(op.d_v);
}

void write_body(const Accumulate& op, json& into) { into["terms"] = write(op.terms); }
void write_body(const Copy& op, json& into) { into["terms"] = write(op.terms); }

void write_body(const Zero& op, json& into) {
  json slices = json::array();
  for (const Slice& slice : op.slices) slices.push_back(write(slice));
  into["slices"] = std::move(slices);
}

void write_body(const StateUpdate& op, json& into) {
  into["a"] = write(op.a), into["b"] = write(op.b);
  if (op.before) into["before"] = write(*op.before);
  into["state"] = write(op.state);
}

void write_body(const StateSum& op, json& into) {
  json& terms = into["terms"] = json::array();
  for (const Slice& term : op.terms) terms.push_back(write(term));
  into["state"] = write(op.state);
}

void write_body(const StateApply& op, json& into) {
  into["x"] = write(op.x), into["state"] = write(op.state), into["out"] = write(op.out);
  into["transposed"] = op.transposed;
}

json write(const PooledList<Op>& ops) {
  json list = json::array();
  for (const Op& op : ops) {
    json item = {{"id", op.id}, {"kind", kind_name(op.body)}, {"stream", op.stream}, {"step", op.step}};
    if (!op.after.empty()) item["after"] = op.after;
    std::visit([&](const auto& body) { write_body(body, item); }, op.body);
    list.push_back(std::move(item));
  }
  return list;
}

json write(const RankProgram& program) {
  json buffers = json::array();
  for (const Buffer& buffer : program.buffers)
    buffers.push_back({{"role", to_string(buffer.role)},
                       {"dtype", to_string(buffer.dtype)},
                       {"tokens", buffer.tokens},
                       {"heads", json::array({buffer.heads.begin, buffer.heads.end})},
                       {"name", buffer.name.text()}});
  const RankBoundary& boundary = program.boundary;
  return {{"tokens", program.tokens},
          {"boundary",
           {{"q", boundary.q},
            {"k", boundary.k},
            {"v", boundary.v},
            {"o", boundary.o},
            {"d_o", boundary.d_o},
            {"d_q", boundary.d_q},
            {"d_k", boundary.d_k},
            {"d_v", boundary.d_v}}},
          {"buffers", std::move(buffers)},
          {"forward", write(program.forward)},
          {"backward", write(program.backward)}};
}

/// Only what differs from the causal rule; a null = unlimited.
json write(const MaskRule& rule) {
  const MaskRule causal;
  const auto length = [](const std::optional<Token>& tokens) { return tokens ? json(*tokens) : json(); };
  json result = json::object();
  if (rule.left != causal.left) result["left"] = length(rule.left);
  if (rule.right != causal.right) result["right"] = length(rule.right);
  if (rule.sinks != causal.sinks) result["sinks"] = rule.sinks;
  if (rule.prefix != causal.prefix) result["prefix"] = rule.prefix;
  if (rule.chunk != causal.chunk) result["chunk"] = length(rule.chunk);
  return result;
}

json write(const AttentionShape& shape) {
  json result = {{"kind", to_string(shape.kind)}, {"query_heads", shape.query_heads},
                 {"kv_heads", shape.kv_heads},    {"qk_dim", shape.qk_dim},
                 {"v_dim", shape.v_dim},          {"dtype", to_string(shape.dtype)}};
  if (shape.mask != MaskRule{}) result["rule"] = write(shape.mask);
  if (shape.decay != 0) result["decay"] = shape.decay;
  return result;
}

json write(const DocumentMask& mask) {
  json result = {{"offsets", mask.offsets()}};
  if (mask.rule() != MaskRule{}) result["rule"] = write(mask.rule());
  return result;
}

}  // namespace

nlohmann::json to_json(const Schedule& schedule) {
  json token_sets = json::array();
  for (const TokenSet& set : schedule.token_sets) {
    json flat = json::array();
    for (const TokenRange& range : set.ranges()) flat.push_back(range.begin), flat.push_back(range.end);
    token_sets.push_back(std::move(flat));
  }
  json ranks = json::array();
  for (const RankProgram& program : schedule.ranks) ranks.push_back(write(program));
  return {{"version", kScheduleJsonVersion}, {"strategy", schedule.strategy}, {"degrees", to_string(schedule.degrees)},
          {"shape", write(schedule.shape)},  {"mask", write(schedule.mask)},  {"token_sets", std::move(token_sets)},
          {"ranks", std::move(ranks)}};
}

}  // namespace hsap
