#include "tests/conformance/mutations.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "planner/ir/errors.hpp"
#include "planner/ir/verify.hpp"

namespace hsap::test {

namespace {

PooledList<Op>& ops_of(Schedule& schedule, RankId rank, Phase phase) {
  return phase == Phase::forward ? schedule.ranks[rank].forward : schedule.ranks[rank].backward;
}

/// Calls visit(Slice&) for every slice that the op names.
template <class Visit>
void for_each_slice(OpBody& body, Visit&& visit) {
  const auto touch = [&](const Slice& slice) { visit(const_cast<Slice&>(slice)); };  // body is ours to change
  std::vector<const Slice*> seen;
  const auto once = [&](const Slice& slice) {
    if (std::find(seen.begin(), seen.end(), &slice) != seen.end()) return;
    seen.push_back(&slice);
    touch(slice);
  };
  for_each_read(body, once);
  for_each_write(body, once);
}

TokenSetId intern(Schedule& schedule, const TokenSet& set) {
  auto& sets = schedule.token_sets;
  const auto known = std::find(sets.begin(), sets.end(), set);
  if (known != sets.end()) return static_cast<TokenSetId>(known - sets.begin());
  sets.push_back(set);
  return static_cast<TokenSetId>(sets.size() - 1);
}

/// The set without its last token, if it has one.
TokenSetId without_last(Schedule& schedule, TokenSetId id) {
  const TokenSet set = schedule.tokens(id);
  if (set.empty()) return id;
  const Token last = set.ranges().back().end - 1;
  return intern(schedule, difference(set, TokenSet{{last, last + 1}}));
}

/// Ids become positions again; `after` follows where each op has gone. `went_to[old id]`, nullopt = the op is gone.
void renumber(PooledList<Op>& ops, const std::vector<std::optional<OpIndex>>& went_to) {
  for (OpIndex i = 0; i < ops.size(); ++i) {
    ops[i].id = i;
    OpList after;
    for (const OpIndex earlier : ops[i].after)
      if (went_to[earlier]) after.push_back(*went_to[earlier]);
    ops[i].after = std::move(after);
  }
}

bool overlap(const Schedule& schedule, const Slice& a, const Slice& b) {
  return a.buffer == b.buffer && a.heads.begin < b.heads.end && b.heads.begin < a.heads.end &&
         schedule.tokens(a.tokens).intersects(schedule.tokens(b.tokens));
}

/// True when one op writes what the other touches. Two ops that only add to the same rows do not count: sums commute.
bool conflict(const Schedule& schedule, const OpBody& a, const OpBody& b) {
  const auto adds = [](const OpBody& body) {
    return std::holds_alternative<Merge>(body) || std::holds_alternative<Accumulate>(body);
  };
  const auto targets = [](const OpBody& body) {
    std::vector<Slice> slices;
    for_each_write(body, [&](const Slice& slice) { slices.push_back(slice); });
    return slices;
  };
  const auto touches = [&](const std::vector<Slice>& written, const OpBody& other) {
    bool found = false;
    const std::vector<Slice> other_targets = targets(other);
    const auto look = [&](const Slice& slice) {
      for (const Slice& target : written) {
        const bool both_add =
            adds(a) && adds(b) && std::find(other_targets.begin(), other_targets.end(), slice) != other_targets.end();
        found = found || (overlap(schedule, target, slice) && !both_add);
      }
    };
    for_each_read(other, look);
    for_each_write(other, look);
    return found;
  };
  return touches(targets(a), b) || touches(targets(b), a);
}

bool share_a_peer(const Exchange& a, const Exchange& b) {
  const auto meet = [](const PooledList<Message>& x, const PooledList<Message>& y) {
    return std::any_of(x.begin(), x.end(), [&](const Message& m) {
      return std::any_of(y.begin(), y.end(), [&](const Message& n) { return m.peer == n.peer; });
    });
  };
  return meet(a.sends, b.sends) || meet(a.recvs, b.recvs);
}

class Mutator {
 public:
  Mutator(const Schedule& schedule, const std::function<void(const Mutation&)>& visit) : original_(schedule), visit_(visit) {}

  std::map<std::string, MutationCount> run() {
    for (RankId rank = 0; rank < original_.ranks.size(); ++rank)
      for (const Phase phase : {Phase::forward, Phase::backward}) {
        rank_ = rank;
        phase_ = phase;
        const auto& ops = hsap::ops_of(original_.ranks[rank], phase);
        for (OpIndex id = 0; id < ops.size(); ++id) {
          drop(id), duplicate(id), swap_with_next(id), shorten_slices(id), shorten_alike(id), drop_after(id);
          if (const auto* sum = std::get_if<StateSum>(&ops[id].body)) change_terms(id, sum->terms.size());
          if (const auto* exchange = std::get_if<Exchange>(&ops[id].body)) {
            change_messages(id, exchange->sends, &Exchange::sends, "send");
            change_messages(id, exchange->recvs, &Exchange::recvs, "receive");
          }
        }
      }
    return std::move(counts_);
  }

 private:
  const PooledList<Op>& ops() const { return hsap::ops_of(original_.ranks[rank_], phase_); }

  void skip(const std::string& kind) { ++counts_[kind].skipped; }

  /// change(schedule, its ops of the rank and phase at hand).
  template <class Change>
  void produce(const std::string& kind, OpIndex id, const std::string& detail, bool may_be_harmless, Change&& change) {
    Mutation mutation{kind,
                      "rank " + std::to_string(rank_) + ", " + hsap::to_string(phase_) + " op " + std::to_string(id) + " (" +
                          kind_name(ops()[id].body) + ", step " + std::to_string(ops()[id].step) + "): " + kind + detail,
                      may_be_harmless, original_};
    change(mutation.schedule, ops_of(mutation.schedule, rank_, phase_));
    ++counts_[kind].produced;
    visit_(mutation);
  }

  void drop(OpIndex id) {
    produce("drop op", id, "", false, [&](Schedule&, PooledList<Op>& list) {
      std::vector<std::optional<OpIndex>> went_to;
      for (OpIndex old = 0; old < list.size(); ++old)
        went_to.push_back(old == id ? std::nullopt : std::optional<OpIndex>(old < id ? old : old - 1));
      list.erase(list.begin() + id);
      renumber(list, went_to);
    });
  }

  void duplicate(OpIndex id) {
    produce("duplicate op", id, "", false, [&](Schedule&, PooledList<Op>& list) {
      // Whoever waited for the op waits for its second run.
      std::vector<std::optional<OpIndex>> went_to;
      for (OpIndex old = 0; old < list.size(); ++old) went_to.push_back(old < id ? old : old + 1);
      list.insert(list.begin() + id, list[id]);
      renumber(list, went_to);
    });
  }

  void swap_with_next(OpIndex id) {
    const auto next =
        std::find_if(ops().begin() + id + 1, ops().end(), [&](const Op& op) { return op.stream == ops()[id].stream; });
    if (next == ops().end()) return;
    const auto other = static_cast<OpIndex>(next - ops().begin());
    const std::string with = " with op " + std::to_string(other);
    produce("swap ops", id, with, false, [&](Schedule&, PooledList<Op>& list) { std::swap(list[id], list[other]); });

    const OpBody& first = ops()[id].body;
    const OpBody& second = next->body;
    const auto* exchange = std::get_if<Exchange>(&first);
    const bool free = !conflict(original_, first, second);
    if (free && exchange == nullptr) return skip("swap bodies");
    const bool may_be_harmless = free && !share_a_peer(*exchange, std::get<Exchange>(second));
    produce("swap bodies", id, with, may_be_harmless, [&](Schedule&, PooledList<Op>& list) {
      std::swap(list[id], list[other]);
      std::vector<std::optional<OpIndex>> went_to;
      for (OpIndex old = 0; old < list.size(); ++old) went_to.push_back(old == id ? other : old == other ? id : old);
      renumber(list, went_to);
    });
  }

  void drop_after(OpIndex id) {
    for (std::size_t edge = 0; edge < ops()[id].after.size(); ++edge)
      produce("drop after", id, " " + std::to_string(ops()[id].after[edge]), true, [&](Schedule&, PooledList<Op>& list) {
        list[id].after.erase(list[id].after.begin() + static_cast<std::ptrdiff_t>(edge));
      });
  }

  void shorten_slices(OpIndex id) {
    OpBody body = ops()[id].body;
    std::vector<TokenSetId> slices;
    for_each_slice(body, [&](Slice& slice) { slices.push_back(slice.tokens); });
    for (std::size_t chosen = 0; chosen < slices.size(); ++chosen)
      for (const bool tokens : {true, false}) {
        if (tokens && original_.tokens(slices[chosen]).empty()) {
          skip("shorten tokens");
          continue;
        }
        produce(tokens ? "shorten tokens" : "shorten heads", id, " of slice " + std::to_string(chosen), false,
                [&](Schedule& schedule, PooledList<Op>& list) {
                  std::size_t at = 0;
                  for_each_slice(list[id].body, [&](Slice& slice) {
                    if (at++ != chosen) return;
                    if (tokens)
                      slice.tokens = without_last(schedule, slice.tokens);
                    else
                      --slice.heads.end;
                  });
                });
      }
  }

  /// Shortens each group of slices that must have equal tokens, so that only following the data shows the mistake.
  void shorten_alike(OpIndex id) {
    const auto shorten = [&](const std::string& what, auto&& slices_of) {
      produce("shorten alike", id, " " + what, true, [&](Schedule& schedule, PooledList<Op>& list) {
        for (Slice* slice : slices_of(schedule, list[id].body)) slice->tokens = without_last(schedule, slice->tokens);
      });
    };
    using Slices = std::vector<Slice*>;
    const auto present = [](std::initializer_list<Slice*> fixed, std::initializer_list<std::optional<Slice>*> optional) {
      Slices list(fixed);
      for (auto* slice : optional)
        if (*slice) list.push_back(&**slice);
      return list;
    };
    const OpBody& body = ops()[id].body;
    if (std::holds_alternative<Attend>(body)) {
      shorten("queries", [&](Schedule&, OpBody& b) {
        auto& op = std::get<Attend>(b);
        return present({&op.q, &op.o}, {&op.lse});
      });
      shorten("keys", [&](Schedule&, OpBody& b) {
        auto& op = std::get<Attend>(b);
        return present({&op.k, &op.v}, {});
      });
    } else if (std::holds_alternative<AttendBackward>(body)) {
      shorten("queries", [&](Schedule&, OpBody& b) {
        auto& op = std::get<AttendBackward>(b);
        return present({&op.q, &op.d_o, &op.d_q}, {&op.o, &op.lse});
      });
      shorten("keys", [&](Schedule&, OpBody& b) {
        auto& op = std::get<AttendBackward>(b);
        return present({&op.k, &op.v, &op.d_k, &op.d_v}, {});
      });
    } else if (std::holds_alternative<Merge>(body)) {
      shorten("rows", [&](Schedule&, OpBody& b) {
        auto& op = std::get<Merge>(b);
        return present({&op.from_o, &op.from_lse, &op.o, &op.lse}, {});
      });
    } else if (std::holds_alternative<Delta>(body)) {
      shorten("rows", [&](Schedule&, OpBody& b) {
        auto& op = std::get<Delta>(b);
        return present({&op.o, &op.d_o, &op.delta}, {});
      });
    } else if (std::holds_alternative<StateUpdate>(body)) {
      shorten("rows", [&](Schedule&, OpBody& b) {
        auto& op = std::get<StateUpdate>(b);
        return present({&op.a, &op.b}, {});
      });
    } else if (std::holds_alternative<StateApply>(body)) {
      shorten("rows", [&](Schedule&, OpBody& b) {
        auto& op = std::get<StateApply>(b);
        return present({&op.x, &op.out}, {});
      });
    } else if (const auto* copy = std::get_if<Copy>(&body)) {
      shorten_terms<Copy>(copy->terms.size(), shorten);
    } else if (const auto* accumulate = std::get_if<Accumulate>(&body)) {
      shorten_terms<Accumulate>(accumulate->terms.size(), shorten);
    } else if (const auto* exchange = std::get_if<Exchange>(&body)) {
      for (std::size_t message = 0; message < exchange->sends.size(); ++message)
        for (std::size_t part = 0; part < exchange->sends[message].parts.size(); ++part) {
          if (is_state(original_.buffer(rank_, exchange->sends[message].parts[part].buffer).role)) continue;
          shorten("part " + std::to_string(part) + " to rank " + std::to_string(exchange->sends[message].peer),
                  [&](Schedule& schedule, OpBody& b) {
                    Message& sent = std::get<Exchange>(b).sends[message];
                    return Slices{&sent.parts[part], &other_end(schedule, id, sent.peer).parts[part]};
                  });
        }
    }
  }

  template <class Kind, class Shorten>
  void shorten_terms(std::size_t terms, Shorten&& shorten) {
    for (std::size_t term = 0; term < terms; ++term)
      shorten("term " + std::to_string(term), [&](Schedule&, OpBody& b) {
        Transfer& transfer = std::get<Kind>(b).terms[term];
        return std::vector<Slice*>{&transfer.from, &transfer.into};
      });
  }

  void change_terms(OpIndex id, std::size_t terms) {
    for (std::size_t term = 0; term < terms; ++term) {
      const std::string detail = " " + std::to_string(term);
      const auto change = [&](const std::string& kind, auto&& edit) {
        produce(kind, id, detail, false, [&](Schedule&, PooledList<Op>& list) {
          std::vector<Slice>& all = std::get<StateSum>(list[id].body).terms;
          edit(all, all.begin() + static_cast<std::ptrdiff_t>(term));
        });
      };
      change("drop term", [](auto& all, auto at) { all.erase(at); });
      change("duplicate term", [](auto& all, auto at) { all.insert(at, Slice(*at)); });
      if (term + 1 < terms) change("swap terms", [](auto&, auto at) { std::swap(*at, *(at + 1)); });
    }
  }

  /// The receive that takes what op `id` of the rank at hand sends to `peer`.
  Message& other_end(Schedule& schedule, OpIndex id, RankId peer) const {
    std::size_t earlier = 0;
    for (OpIndex i = 0; i < id; ++i)
      if (const auto* exchange = std::get_if<Exchange>(&ops()[i].body))
        for (const Message& message : exchange->sends) earlier += message.peer == peer ? 1 : 0;
    for (Op& op : ops_of(schedule, peer, phase_))
      if (auto* exchange = std::get_if<Exchange>(&op.body))
        for (Message& message : exchange->recvs)
          if (message.peer == rank_ && earlier-- == 0) return message;
    throw std::logic_error("mutations are made of schedules whose messages match");
  }

  void change_messages(OpIndex id, const PooledList<Message>& messages, PooledList<Message> Exchange::*side,
                       const std::string& name) {
    const auto on_side = [side](PooledList<Op>& list, OpIndex op) -> PooledList<Message>& {
      return std::get<Exchange>(list[op].body).*side;
    };
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::string detail = ", " + name + " " + std::to_string(i);
      produce("drop message", id, detail, false, [&](Schedule&, PooledList<Op>& list) {
        auto& changed = on_side(list, id);
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
      });
      produce("duplicate message", id, detail, false, [&](Schedule&, PooledList<Op>& list) {
        auto& changed = on_side(list, id);
        changed.push_back(changed[i]);
      });
      for (std::size_t j = i + 1; j < messages.size(); ++j) {
        if (messages[i].parts == messages[j].parts) {
          skip("swap peers");
          continue;
        }
        produce("swap peers", id, detail + " and " + std::to_string(j), look_alike(messages[i].parts, messages[j].parts),
                [&](Schedule&, PooledList<Op>& list) { std::swap(on_side(list, id)[i].peer, on_side(list, id)[j].peer); });
      }
      const auto& parts = messages[i].parts;
      for (std::size_t a = 0; a < parts.size(); ++a)
        for (std::size_t b = a + 1; b < parts.size(); ++b)
          produce("swap parts", id, detail + ", parts " + std::to_string(a) + " and " + std::to_string(b),
                  look_alike({parts[a]}, {parts[b]}), [&](Schedule&, PooledList<Op>& list) {
                    std::swap(on_side(list, id)[i].parts[a], on_side(list, id)[i].parts[b]);
                  });
    }
  }

  /// True when the other side cannot tell these parts apart.
  bool look_alike(const SliceList& a, const SliceList& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Slice& x, const Slice& y) {
      const Buffer& of_x = original_.buffer(rank_, x.buffer);
      const Buffer& of_y = original_.buffer(rank_, y.buffer);
      return of_x.role == of_y.role && of_x.dtype == of_y.dtype && x.tokens == y.tokens && x.heads == y.heads;
    });
  }

  const Schedule& original_;
  const std::function<void(const Mutation&)>& visit_;
  std::map<std::string, MutationCount> counts_;
  RankId rank_ = 0;
  Phase phase_ = Phase::forward;
};

}  // namespace

std::map<std::string, MutationCount> for_each_mutation(const Schedule& schedule,
                                                       const std::function<void(const Mutation&)>& visit) {
  return Mutator(schedule, visit).run();
}

bool is_accepted(const Schedule& schedule) {
  try {
    verify(schedule, schedule.mask);
    return true;
  } catch (const InvalidInput&) {
    return false;
  }
}

}  // namespace hsap::test
