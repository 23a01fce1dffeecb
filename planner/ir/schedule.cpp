#include "planner/ir/schedule.hpp"

#include <charconv>

#include "planner/ir/errors.hpp"

namespace hsap {

std::string to_string(Role role) {
  switch (role) {
    case Role::q:
      return "q";
    case Role::k:
      return "k";
    case Role::v:
      return "v";
    case Role::o:
      return "o";
    case Role::lse:
      return "lse";
    case Role::d_o:
      return "d_o";
    case Role::delta:
      return "delta";
    case Role::d_q:
      return "d_q";
    case Role::d_k:
      return "d_k";
    case Role::d_v:
      return "d_v";
    case Role::state:
      return "state";
    case Role::d_state:
      return "d_state";
  }
  return {};
}

bool has_query_heads(Role role) {
  return role == Role::q || role == Role::o || role == Role::lse || role == Role::d_o || role == Role::delta ||
         role == Role::d_q;
}

bool is_state(Role role) { return role == Role::state || role == Role::d_state; }

int width_of(Role role, const AttentionShape& shape) {
  switch (role) {
    case Role::q:
    case Role::k:
    case Role::d_q:
    case Role::d_k:
      return shape.qk_dim;
    case Role::v:
    case Role::o:
    case Role::d_o:
    case Role::d_v:
      return shape.v_dim;
    case Role::lse:
    case Role::delta:
      return 1;
    case Role::state:
    case Role::d_state:
      return shape.qk_dim * shape.v_dim;
  }
  return 0;
}

std::string kind_name(const OpBody& body) {
  return std::visit(detail::Overloaded{
                        [](const Exchange&) { return "exchange"; },
                        [](const Attend&) { return "attend"; },
                        [](const Merge&) { return "merge"; },
                        [](const Delta&) { return "delta"; },
                        [](const AttendBackward&) { return "attend backward"; },
                        [](const Accumulate&) { return "accumulate"; },
                        [](const Copy&) { return "copy"; },
                        [](const Zero&) { return "zero"; },
                        [](const StateUpdate&) { return "state update"; },
                        [](const StateSum&) { return "state sum"; },
                        [](const StateApply&) { return "state apply"; },
                    },
                    body);
}

std::string to_string(Phase phase) { return phase == Phase::forward ? "forward" : "backward"; }

std::string to_string(const Degrees& degrees) { return std::to_string(degrees.intra) + "x" + std::to_string(degrees.inter); }

Degrees parse_degrees(const std::string& text) {
  Degrees degrees;
  const char* const end = text.data() + text.size();
  const auto intra = std::from_chars(text.data(), end, degrees.intra);
  if (intra.ec == std::errc() && intra.ptr != end && *intra.ptr == 'x') {
    const auto inter = std::from_chars(intra.ptr + 1, end, degrees.inter);
    if (inter.ec == std::errc() && inter.ptr == end && degrees.intra > 0 && degrees.inter > 0) return degrees;
  }
  throw InvalidInput("degrees: found \"" + text + "\", expected INTRAxINTER such as 8x2 (head-parallel x sequence-parallel)");
}

}  // namespace hsap
