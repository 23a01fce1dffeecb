// What verify() asks of the states of linear attention: one document, one order, ranges by whose ends they decay.
#include <catch2/catch.hpp>

#include <limits>
#include <utility>

#include "planner/ir/verify.hpp"
#include "tests/planner/hand_made.hpp"
#include "tests/planner/refusals.hpp"

using namespace hsap;
using namespace hsap::test;

TEST_CASE("verify holds states to one document and one order") {
  Schedule schedule = two_rank_state_hop();
  const auto set = [&](const TokenSet& tokens) {
    schedule.token_sets.push_back(tokens);
    return static_cast<TokenSetId>(schedule.token_sets.size() - 1);
  };
  SECTION("a state of two documents") {
    StateUpdate& update = body<StateUpdate>(forward(schedule, 0)[0]);
    const TokenSetId more = set({{1, 4}});
    update.a.tokens = update.b.tokens = update.state.tokens = more;
    schedule.ranks[0].buffers[update.state.buffer].tokens = more;
    refuse(schedule, "joins tokens 1 and 3 in one state; the document ends at 2");
  }
  SECTION("a state that does not hold what it says") {
    StateUpdate& update = body<StateUpdate>(forward(schedule, 0)[0]);
    update.a.tokens = update.b.tokens = set({{3, 4}});
    refuse(schedule, "of tokens [2, 4), but sums [3, 4)");
  }
  SECTION("rows of another document") {
    StateApply& apply = body<StateApply>(forward(schedule, 1)[2]);
    apply.x.tokens = apply.out.tokens = set({{4, 7}});
    schedule.ranks[1].buffers[apply.out.buffer].tokens = apply.out.tokens;
    refuse(schedule, "joins tokens 2 and 6 in one state; the document ends at 6");
  }
  SECTION("a state of later tokens") {
    StateUpdate& update = body<StateUpdate>(forward(schedule, 0)[0]);
    const Attend& attend = body<Attend>(forward(schedule, 0)[2]);
    StateApply apply{attend.q, update.state, attend.o, false};
    apply.x.tokens = apply.out.tokens = set({{3, 4}});
    Op op = forward(schedule, 0)[0];
    op.id = 3;
    op.body = apply;
    forward(schedule, 0).push_back(op);
    refuse(schedule, "applies a state of tokens [2, 4) to rows [3, 4); all of it must lie before them");
  }
  SECTION("transposed the wrong way") {
    body<StateApply>(forward(schedule, 1)[2]).transposed = true;
    refuse(schedule, "must not transpose the state");
  }
  SECTION("the state's part of o twice") {
    Op again = forward(schedule, 1)[3];
    again.id = 4;
    forward(schedule, 1).push_back(again);
    refuse(schedule, "query 4 meets key 2 2 times");
  }
  SECTION("the state's part of dV missing") {
    body<Accumulate>(backward(schedule, 0)[4]).terms.pop_back();
    refuse(schedule, "rank 0, after backward: buffer 7 \"d_v\" (d_v): query 4 meets key 3 0 times");
  }
  SECTION("a mask rule that is not causal attention over the whole document") {
    schedule.shape.mask = GENERATE(window_rule(2), block_rule(4), parse_mask_rule("full"));
    schedule.mask = DocumentMask(schedule.mask.offsets(), schedule.shape.mask);
    refuse(schedule, "which is the causal mask rule; found \"" + to_string(schedule.shape.mask) + "\"");
  }
  SECTION("softmax") {
    schedule.shape.kind = AttentionKind::softmax;
    refuse(schedule, "softmax attention has no state");
  }
}

TEST_CASE("verify refuses states whose tokens would give them a wrong decay") {
  const auto with_set = [](Schedule& schedule, const TokenSet& set) {
    schedule.token_sets.push_back(set);
    return static_cast<TokenSetId>(schedule.token_sets.size() - 1);
  };
  Schedule schedule = two_rank_state_hop();  // document [2, 6): rank 0 holds [2, 4)
  StateUpdate& update = body<StateUpdate>(forward(schedule, 0)[0]);
  SECTION("a state with a gap") {
    schedule.ranks[0].buffers[update.state.buffer].tokens = with_set(schedule, TokenSet{{1, 2}, {3, 4}});
    refuse(schedule, "rank 0: buffer 8 \"state\" (state) sums tokens [1, 2) [3, 4), expected one range");
  }
  SECTION("rows with a gap") {
    update.a.tokens = update.b.tokens = with_set(schedule, TokenSet{{0, 1}, {3, 4}});
    refuse(schedule, "takes tokens [0, 1) [3, 4) of buffer 1 \"k\" (k), expected one range");
  }
  SECTION("a state given to rows with a gap") {
    schedule.mask = DocumentMask({0, 8});
    StateApply& apply = body<StateApply>(forward(schedule, 1)[2]);
    apply.x.tokens = apply.out.tokens = with_set(schedule, TokenSet{{4, 5}, {6, 7}});
    schedule.ranks[1].buffers[apply.out.buffer].tokens = apply.out.tokens;
    refuse(schedule, "takes tokens [4, 5) [6, 7) of buffer 0 \"q\" (q), expected one range");
  }
  SECTION("rows added to a state behind them, or with a gap between") {
    const bool behind = GENERATE(true, false);
    schedule.mask = DocumentMask({0, 8});
    const TokenSet first = behind ? TokenSet{{1, 2}} : TokenSet{{0, 1}};
    const BufferId before = static_cast<BufferId>(schedule.ranks[0].buffers.size());
    Buffer state = schedule.ranks[0].buffers[update.state.buffer];
    state.tokens = behind ? update.state.tokens : with_set(schedule, first);
    schedule.ranks[0].buffers.push_back(state);
    update.before = Slice{before, state.tokens, state.heads};
    if (behind) {
      update.a.tokens = update.b.tokens = with_set(schedule, first);
      refuse(schedule, "adds tokens [1, 2) to a state of [2, 4); they must lie right behind its tokens");
    } else {
      refuse(schedule, "adds tokens [2, 4) to a state of [0, 1); they must lie right behind its tokens");
    }
  }
}

TEST_CASE("verify holds sums of states to adjacent terms in token order") {
  Schedule schedule = three_rank_state_sum();
  StateSum& sum = body<StateSum>(forward(schedule, 2)[1]);
  SECTION("in any other order") {
    std::swap(sum.terms[0], sum.terms[1]);
    refuse(schedule,
           "\"of rank 0\" (state) of tokens [0, 2) to one of [2, 4); each term must begin where the one before it ends");
  }
  SECTION("one term") {
    sum.terms.pop_back();
    refuse(schedule, "rank 2, forward op 1 (state sum, step 0): adds up 1 states, expected two or more");
  }
  SECTION("a term twice") {
    sum.terms.push_back(sum.terms.back());
    refuse(schedule, "each term must begin where the one before it ends");
  }
  SECTION("more terms than the state says") {
    schedule.ranks[2].buffers[sum.state.buffer].tokens = sum.state.tokens = sum.terms[1].tokens;
    refuse(schedule, "of tokens [2, 4), but sums [0, 4)");
  }
  SECTION("no state") {
    sum.state = body<Attend>(forward(schedule, 2)[2]).o;
    refuse(schedule, "writes buffer 3 \"o\" (o), expected a state or d_state");
  }
  SECTION("a state and a gradient") {
    schedule.ranks[2].buffers[sum.terms[1].buffer].role = Role::d_state;
    refuse(schedule, "where it needs a buffer of role state");
  }
  SECTION("other heads") {
    --sum.terms[0].heads.end;
    refuse(schedule, "takes no head of");
  }
  SECTION("before the terms arrive") {
    forward(schedule, 2)[1].after.clear();
    refuse(schedule,
           "(state sum, step 0): reads buffer 8 \"of rank 0\" (state) tokens [0, 2) head 0, which nothing ordered before");
  }
  SECTION("two documents") {
    schedule.mask = DocumentMask({0, 3, 6});
    refuse(schedule, "in one state; the document ends at 3");
  }
}

TEST_CASE("verify refuses decay that softmax attention has not, or that is no rate") {
  Schedule schedule = GENERATE(local_attention(), three_rank_state_sum());
  if (schedule.shape.kind == AttentionKind::softmax) {
    schedule.shape.decay = 0.5;
    refuse(schedule, "attention shape: decay is 0.5, but softmax attention has none");
  } else {
    schedule.shape.decay = GENERATE(-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN());
    refuse(schedule, "expected 0 (none) or a positive, finite scale of the decay rates");
  }
}
