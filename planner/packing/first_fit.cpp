#include "planner/packing/first_fit.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "planner/inputs/batch_rooms.hpp"

namespace hsap {

namespace {

/// Sequences of at most `tokens`; one more than `most` when they do not suffice.
std::vector<MicroBatch> fill_sequences(const std::vector<Token>& lengths, Token tokens, std::size_t most) {
  std::vector<MicroBatch> sequences;
  BatchRooms rooms;
  for (std::size_t document = 0; document < lengths.size(); ++document) {
    const std::size_t sequence = rooms.first_with_room(lengths[document]);
    if (sequence == rooms.batches()) {
      rooms.open(tokens);
      sequences.emplace_back();
      if (sequences.size() > most) return sequences;
    }
    rooms.take(sequence, lengths[document]);
    sequences[sequence].push_back(document);
  }
  return sequences;
}

/// At most `most` sequences, as short as can be; empty when even the longest that fit memory do not suffice.
std::vector<MicroBatch> shortest_sequences(const std::vector<Token>& lengths, Token tokens, Token capacity, std::size_t most) {
  std::vector<MicroBatch> best = fill_sequences(lengths, capacity, most);
  if (best.size() > most) return {};
  const auto share = static_cast<Token>(most);
  Token too_short = std::max(*std::max_element(lengths.begin(), lengths.end()), (tokens + share - 1) / share) - 1;
  Token enough = capacity;
  while (enough - too_short > std::max<Token>(1, enough / 1000)) {
    const Token middle = too_short + (enough - too_short) / 2;
    std::vector<MicroBatch> tried = fill_sequences(lengths, middle, most);
    if (tried.size() > most) {
      too_short = middle;
    } else {
      enough = middle;
      best = std::move(tried);
    }
  }
  return best;
}

}  // namespace

StepPacking first_fit_packing(const StepModel& model, const std::vector<Token>& lengths, Token most_tokens) {
  const auto replicas = static_cast<std::size_t>(model.mesh().replicas);
  StepPacking packing(replicas);
  if (lengths.empty()) return packing;
  const Token tokens = std::accumulate(lengths.begin(), lengths.end(), Token{0});
  const Token capacity = std::max(most_tokens, *std::max_element(lengths.begin(), lengths.end()));
  assert(capacity <= model.capacity());
  const Token per_round = capacity * static_cast<Token>(replicas);
  std::vector<MicroBatch> sequences;
  for (auto rounds = static_cast<std::size_t>((tokens + per_round - 1) / per_round); sequences.empty(); ++rounds)
    sequences = shortest_sequences(lengths, tokens, capacity, rounds * replicas);
  for (std::size_t s = 0; s < sequences.size(); ++s) packing[s % replicas].push_back(std::move(sequences[s]));
  return packing;
}

}  // namespace hsap
