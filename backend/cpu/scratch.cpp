#include "backend/cpu/scratch.hpp"

#include <new>

namespace hsap {

namespace {
constexpr std::align_val_t kCacheLine{64};
}

Scratch::Scratch(Index count)
    : floats(static_cast<float*>(::operator new(static_cast<std::size_t>(count) * sizeof(float), kCacheLine))) {}

Scratch::~Scratch() { ::operator delete(floats, kCacheLine); }

}  // namespace hsap
