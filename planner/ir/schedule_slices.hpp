// Which slices an op reads and which it writes: the definitions behind for_each_read and for_each_write of schedule.hpp.
// Merge and Accumulate both read and write their target.
#pragma once

#include "planner/ir/schedule.hpp"

namespace hsap {

namespace detail {
template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
}  // namespace detail

template <class Visit>
void for_each_read(const OpBody& body, Visit&& visit) {
  const auto optional = [&](const std::optional<Slice>& slice) {
    if (slice) visit(*slice);
  };
  std::visit(detail::Overloaded{
                 [&](const Exchange& op) {
                   for (const Message& message : op.sends)
                     for (const Slice& part : message.parts) visit(part);
                 },
                 [&](const Attend& op) { visit(op.q), visit(op.k), visit(op.v); },
                 [&](const Merge& op) { visit(op.from_o), visit(op.from_lse), visit(op.o), visit(op.lse); },
                 [&](const Delta& op) { visit(op.o), visit(op.d_o); },
                 [&](const AttendBackward& op) {
                   visit(op.q), visit(op.k), visit(op.v);
                   optional(op.o), optional(op.lse);
                   visit(op.d_o);
                 },
                 [&](const Accumulate& op) {
                   for (const Transfer& term : op.terms) visit(term.from), visit(term.into);
                 },
                 [&](const Copy& op) {
                   for (const Transfer& term : op.terms) visit(term.from);
                 },
                 [](const Zero&) {},
                 [&](const StateUpdate& op) { visit(op.a), visit(op.b), optional(op.before); },
                 [&](const StateSum& op) {
                   for (const Slice& term : op.terms) visit(term);
                 },
                 [&](const StateApply& op) { visit(op.x), visit(op.state); },
             },
             body);
}

template <class Visit>
void for_each_write(const OpBody& body, Visit&& visit) {
  std::visit(detail::Overloaded{
                 [&](const Exchange& op) {
                   for (const Message& message : op.recvs)
                     for (const Slice& part : message.parts) visit(part);
                 },
                 [&](const Attend& op) {
                   visit(op.o);
                   if (op.lse) visit(*op.lse);
                 },
                 [&](const Merge& op) { visit(op.o), visit(op.lse); },
                 [&](const Delta& op) { visit(op.delta); },
                 [&](const AttendBackward& op) { visit(op.d_q), visit(op.d_k), visit(op.d_v); },
                 [&](const Accumulate& op) {
                   for (const Transfer& term : op.terms) visit(term.into);
                 },
                 [&](const Copy& op) {
                   for (const Transfer& term : op.terms) visit(term.into);
                 },
                 [&](const Zero& op) {
                   for (const Slice& slice : op.slices) visit(slice);
                 },
                 [&](const StateUpdate& op) { visit(op.state); },
                 [&](const StateSum& op) { visit(op.state); },
                 [&](const StateApply& op) { visit(op.out); },
             },
             body);
}

}  // namespace hsap
