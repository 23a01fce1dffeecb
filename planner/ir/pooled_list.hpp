// Lists whose memory comes from one pool: a schedule has very many of them, all made together and freed together.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <vector>

namespace hsap {

/// Memory for lists; what they give back is reused only when the pool ends. It lies where it is when its owner moves. Its owner
/// declares it before the lists, so that it ends after them.
class ListPool {
 public:
  /// Without memory: lists that are made with it take theirs from the heap.
  ListPool() = default;
  /// A copy has no memory: copies of lists lie on the heap (PoolAllocator).
  ListPool(const ListPool&) {}
  ListPool(ListPool&&) noexcept = default;
  /// Keeps its memory, in which the lists that are assigned to may lie.
  ListPool& operator=(const ListPool&) { return *this; }
  /// The other pool gets the memory that was here, so that lists in it may still be freed.
  ListPool& operator=(ListPool&& other) noexcept {
    memory_.swap(other.memory_);
    return *this;
  }
  ~ListPool() = default;

  /// Opens the pool with room for about `bytes`; more is taken as needed. @pre it has no memory
  void open(std::size_t bytes) { memory_ = std::make_unique<std::pmr::monotonic_buffer_resource>(bytes); }
  std::pmr::memory_resource* memory() const { return memory_.get(); }
  /// Where lists lie makes no difference to what they say.
  bool operator==(const ListPool&) const { return true; }

 private:
  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_;
};

/// Takes memory from a pool, or from the heap when there is none. A list that is moved stays in its pool, so it must not
/// outlive the pool's owner; a copy lies on the heap.
template <class Element>
class PoolAllocator {
 public:
  using value_type = Element;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  PoolAllocator() = default;
  PoolAllocator(const ListPool& pool) : memory_(pool.memory()) {}
  template <class Other>
  PoolAllocator(const PoolAllocator<Other>& other) : memory_(other.memory()) {}

  Element* allocate(std::size_t count) {
    if (memory_ == nullptr) return std::allocator<Element>().allocate(count);
    return static_cast<Element*>(memory_->allocate(count * sizeof(Element), alignof(Element)));
  }
  void deallocate(Element* elements, std::size_t count) noexcept {
    if (memory_ == nullptr) std::allocator<Element>().deallocate(elements, count);
  }
  PoolAllocator select_on_container_copy_construction() const { return {}; }
  std::pmr::memory_resource* memory() const { return memory_; }
  bool operator==(const PoolAllocator&) const = default;

 private:
  std::pmr::memory_resource* memory_ = nullptr;
};

template <class Element>
using PooledList = std::vector<Element, PoolAllocator<Element>>;

}  // namespace hsap
