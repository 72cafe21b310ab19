// An exact amount of work whose time suffers from the machine like that of real work: what `compute=N` does in an
// inference, and what the benchmarks give to other tools, in the same machine code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace infermeter {

// A unit is one step of x ← x/2 + v[i], with v walked round and round. Each step waits for the one before it, so N
// units take N times the latency of a multiplication and an addition (about 2 ns), however wide the processor is. x
// stays between 2 and 4: no step meets a slow operand.
class Computation {
 public:
  Computation() {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = 1 + static_cast<double>(i) / size;
  }

  // Never inlined and begun at a cache line's beginning, so that it is the same code in every program. The result is
  // volatile: work that nobody looks at is done all the same.
  [[gnu::noinline, gnu::aligned(64)]] void run(std::uint64_t units) {
    double x = result_;
    for (std::uint64_t i = 0; i < units; ++i) x = x * 0.5 + values_[i % size];
    result_ = x;
  }

  [[nodiscard]] double result() const { return result_; }

 private:
  static constexpr std::size_t size = 2048;  // 16 KiB: half of a small first-level cache
  std::array<double, size> values_;
  volatile double result_ = 2;
};

}  // namespace infermeter
