// Lists whose memory comes from one pool: a schedule has very many of them, all made together and freed together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace hsap {

/// Memory that is given out piece by piece and freed at once. It comes from the heap in chunks that are small enough for malloc
/// to keep them for the next schedule: whatever glibc maps (128 KiB and more) costs a page fault per 4 KiB, each time anew.
class ListMemory {
 public:
  ListMemory() = default;
  ListMemory(const ListMemory&) = delete;
  ListMemory& operator=(const ListMemory&) = delete;

  /// Aligned for any type.
  void* allocate(std::size_t bytes) {
    constexpr std::size_t kAlignment = alignof(std::max_align_t);
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (bytes > left_) add_chunk(std::max(bytes, kChunk));
    std::byte* piece = next_;
    next_ += bytes;
    left_ -= bytes;
    return piece;
  }

 private:
  static constexpr std::size_t kChunk = 64 << 10;

  void add_chunk(std::size_t bytes) {
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    next_ = chunks_.back().get();
    left_ = bytes;
  }

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

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

  /// @pre it has no memory
  void open() { memory_ = std::make_unique<ListMemory>(); }
  ListMemory* memory() const { return memory_.get(); }
  /// Where lists lie makes no difference to what they say.
  bool operator==(const ListPool&) const { return true; }

 private:
  std::unique_ptr<ListMemory> memory_;
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
    static_assert(alignof(Element) <= alignof(std::max_align_t));
    if (memory_ == nullptr) return std::allocator<Element>().allocate(count);
    return static_cast<Element*>(memory_->allocate(count * sizeof(Element)));
  }
  void deallocate(Element* elements, std::size_t count) noexcept {
    if (memory_ == nullptr) std::allocator<Element>().deallocate(elements, count);
  }
  PoolAllocator select_on_container_copy_construction() const { return {}; }
  ListMemory* memory() const { return memory_; }
  bool operator==(const PoolAllocator&) const = default;

 private:
  ListMemory* memory_ = nullptr;
};

template <class Element>
using PooledList = std::vector<Element, PoolAllocator<Element>>;

}  // namespace hsap
