// Loops that keep a processor busy with one thing, written in assembly so that no compiler decides what is measured: a
// peak that a real program beats is no peak. Chosen by what the processor and the kernel allow when the program runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace infermeter {

// Multiply-accumulates on independent accumulators that all begin at 0, with operands that are all 1: the accumulators'
// sum is then the number of multiply-accumulates made, by which the tests count what is claimed here.
struct ComputeKernel {
  const char* dtype;                                     // "float32"
  const char* instructions;                              // "AVX-512 FMA"
  double ops_per_loop;                                   // a multiply and an add are two
  bool integer_sums;                                     // accumulators are int32, otherwise float32
  std::size_t accumulator_bytes;                         // of all of them
  void (*run)(std::uint64_t loops, void* accumulators);  // loops > 0; accumulators: aligned to 64 bytes
};

inline constexpr std::size_t kMostAccumulatorBytes = 8192;

// Memory is read and written in blocks of this size: lengths are multiples of it, addresses aligned to 64 bytes.
inline constexpr std::size_t kMemoryBlock = 1024;

struct MemoryKernels {
  const char* instructions;
  std::size_t vector_bytes;
  // Reads everything so many times, with nothing beside the loads: even an exclusive or takes a fifth of L1's bandwidth
  // away. What is left in the registers are the last 16 vectors; their words' exclusive or is returned.
  std::uint64_t (*read)(const std::byte* begin, std::size_t bytes, std::size_t passes);
  // a = b + 3 c in float32, `bytes` each, past the caches where the processor can (STREAM's triad, McCalpin 1995).
  void (*triad)(float* a, const float* b, const float* c, std::size_t bytes);
};

// Of each dtype the widest that runs here first.
[[nodiscard]] const std::vector<ComputeKernel>& compute_kernels();
[[nodiscard]] const std::vector<MemoryKernels>& memory_kernels();
// One sentence for each dtype without a kernel: "bfloat16: this processor has neither AMX-BF16 nor AVX-512 BF16".
[[nodiscard]] const std::vector<std::string>& missing_kernels();

}  // namespace infermeter
