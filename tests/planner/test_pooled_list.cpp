#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <utility>

#include "planner/ir/pooled_list.hpp"

using namespace hsap;

namespace {

/// As a schedule owns its lists.
struct Owner {
  ListPool pool;
  std::vector<PooledList<int>> lists;
  bool operator==(const Owner&) const = default;
};

Owner owner_of(int lists) {
  Owner owner;
  owner.pool.open();
  for (int list = 0; list < lists; ++list) {
    owner.lists.emplace_back(owner.pool);
    for (int i = 0; i < 20; ++i) owner.lists.back().push_back(100 * list + i);
  }
  return owner;
}

/// In the pool of `owner`, or on the heap.
void check_where(const Owner& owner, bool in_pool) {
  for (const PooledList<int>& list : owner.lists)
    CHECK(list.get_allocator().memory() == (in_pool ? owner.pool.memory() : nullptr));
}

}  // namespace

TEST_CASE("pooled lists: those of an owner that moves stay in its pool") {
  std::optional<Owner> first = owner_of(3);
  const ListMemory* pool = first->pool.memory();
  Owner moved = std::move(*first);
  first.reset();
  CHECK(moved.pool.memory() == pool);
  CHECK(moved == owner_of(3));
  check_where(moved, true);

  Owner assigned = owner_of(5);
  assigned = std::move(moved);
  CHECK(assigned.pool.memory() == pool);
  CHECK(assigned == owner_of(3));
  check_where(assigned, true);
}

TEST_CASE("pooled lists: a copy lies on the heap, equals the original and outlives it") {
  std::optional<Owner> first = owner_of(3);
  const Owner copy = *first;
  CHECK(copy == *first);
  first.reset();
  CHECK(copy == owner_of(3));
  CHECK(copy.pool.memory() == nullptr);
  check_where(copy, false);
}

TEST_CASE("pooled lists: a list that is assigned to stays where it is, and one without a pool takes heap memory") {
  Owner owner = owner_of(2);
  const Owner other = owner_of(4);
  owner.lists[0] = other.lists[3];
  CHECK(owner.lists[0].get_allocator().memory() == owner.pool.memory());
  owner = other;
  CHECK(owner == other);
  PooledList<int> alone{1, 2};
  alone.push_back(3);
  CHECK(alone.get_allocator().memory() == nullptr);
  CHECK(alone == PooledList<int>{1, 2, 3});
}

TEST_CASE("pooled lists: larger than a chunk of the pool, and many of them, keep what they are given") {
  ListPool pool;
  pool.open();
  PooledList<double> large(100'000, 1.5, pool);
  std::vector<PooledList<char>> many;
  for (int list = 0; list < 10'000; ++list)
    many.emplace_back(static_cast<std::size_t>(list % 50), static_cast<char>(list % 100), pool);
  large.push_back(2.5);
  CHECK(std::count(large.begin(), large.end(), 1.5) == 100'000);
  for (int list = 0; list < 10'000; ++list) {
    const PooledList<char>& chars = many[static_cast<std::size_t>(list)];
    REQUIRE(std::count(chars.begin(), chars.end(), static_cast<char>(list % 100)) == list % 50);
    REQUIRE(reinterpret_cast<std::uintptr_t>(chars.data()) % alignof(std::max_align_t) == 0);
  }
}
