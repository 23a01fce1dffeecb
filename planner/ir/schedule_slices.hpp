// Which slices an op reads and which it writes: the definitions behind for_each_read and for_each_write of schedule.hpp, also
// for the body of an op whose kind is known. Merge and Accumulate both read and write their target.
#pragma once

#include "planner/ir/schedule.hpp"

namespace hsap {

namespace detail {
template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

template <class Visit>
void visit_if_any(const std::optional<Slice>& slice, Visit&& visit) {
  if (slice) visit(*slice);
}
}  // namespace detail

template <class Visit>
void for_each_read(const Exchange& op, Visit&& visit) {
  for (const Message& message : op.sends)
    for (const Slice& part : message.parts) visit(part);
}
template <class Visit>
void for_each_read(const Attend& op, Visit&& visit) {
  visit(op.q), visit(op.k), visit(op.v);
}
template <class Visit>
void for_each_read(const Merge& op, Visit&& visit) {
  visit(op.from_o), visit(op.from_lse), visit(op.o), visit(op.lse);
}
template <class Visit>
void for_each_read(const Delta& op, Visit&& visit) {
  visit(op.o), visit(op.d_o);
}
template <class Visit>
void for_each_read(const AttendBackward& op, Visit&& visit) {
  visit(op.q), visit(op.k), visit(op.v);
  detail::visit_if_any(op.o, visit), detail::visit_if_any(op.lse, visit);
  visit(op.d_o);
}
template <class Visit>
void for_each_read(const Accumulate& op, Visit&& visit) {
  for (const Transfer& term : op.terms) visit(term.from), visit(term.into);
}
template <class Visit>
void for_each_read(const Copy& op, Visit&& visit) {
  for (const Transfer& term : op.terms) visit(term.from);
}
template <class Visit>
void for_each_read(const Zero&, Visit&&) {}
template <class Visit>
void for_each_read(const StateUpdate& op, Visit&& visit) {
  visit(op.a), visit(op.b), detail::visit_if_any(op.before, visit);
}
template <class Visit>
void for_each_read(const StateSum& op, Visit&& visit) {
  for (const Slice& term : op.terms) visit(term);
}
template <class Visit>
void for_each_read(const StateApply& op, Visit&& visit) {
  visit(op.x), visit(op.state);
}
template <class Visit>
void for_each_read(const OpBody& body, Visit&& visit) {
  std::visit([&](const auto& op) { for_each_read(op, visit); }, body);
}

template <class Visit>
void for_each_write(const Exchange& op, Visit&& visit) {
  for (const Message& message : op.recvs)
    for (const Slice& part : message.parts) visit(part);
}
template <class Visit>
void for_each_write(const Attend& op, Visit&& visit) {
  visit(op.o), detail::visit_if_any(op.lse, visit);
}
template <class Visit>
void for_each_write(const Merge& op, Visit&& visit) {
  visit(op.o), visit(op.lse);
}
template <class Visit>
void for_each_write(const Delta& op, Visit&& visit) {
  visit(op.delta);
}
template <class Visit>
void for_each_write(const AttendBackward& op, Visit&& visit) {
  visit(op.d_q), visit(op.d_k), visit(op.d_v);
}
template <class Visit>
void for_each_write(const Accumulate& op, Visit&& visit) {
  for (const Transfer& term : op.terms) visit(term.into);
}
template <class Visit>
void for_each_write(const Copy& op, Visit&& visit) {
  for (const Transfer& term : op.terms) visit(term.into);
}
template <class Visit>
void for_each_write(const Zero& op, Visit&& visit) {
  for (const Slice& slice : op.slices) visit(slice);
}
template <class Visit>
void for_each_write(const StateUpdate& op, Visit&& visit) {
  visit(op.state);
}
template <class Visit>
void for_each_write(const StateSum& op, Visit&& visit) {
  visit(op.state);
}
template <class Visit>
void for_each_write(const StateApply& op, Visit&& visit) {
  visit(op.out);
}
template <class Visit>
void for_each_write(const OpBody& body, Visit&& visit) {
  std::visit([&](const auto& op) { for_each_write(op, visit); }, body);
}

}  // namespace hsap
