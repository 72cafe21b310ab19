#if defined(__aarch64__)

#include <asm/hwcap.h>
#include <sys/auxv.h>

#include <array>
#include <cstring>

#include "infermeter/trial/machine/peak_kernels.hpp"

namespace infermeter {
namespace {

// Operations of one instruction (Arm Architecture Reference Manual, A-profile): FMLA makes a product and a sum in each
// of 4 lanes; BFMMLA multiplies 2 x 4 by 4 x 2 values, SMMLA 2 x 8 by 8 x 2; SDOT makes 4 products in each of 4 lanes.
constexpr std::uint32_t one_float32 = 0x3f800000;
constexpr std::uint32_t one_bfloat16 = 0x3f803f80;
constexpr std::uint32_t one_int8 = 0x01010101;

// 24 accumulators: Neoverse V1 makes 4 FMLA a cycle with a latency of 4 (its software optimisation guide). The
// assembler repeats what stands between .irp and .endr.
constexpr double instructions_per_loop = 24;
#define INFERMETER_EACH_OF_24 \
  ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23\n\t"
// What the assembler lets through; the processor is asked below.
#define INFERMETER_V8_6 ".arch armv8.6-a\n\t"
#define INFERMETER_EACH_OF_16 ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
#define INFERMETER_END "\n\t.endr\n\t"
#define INFERMETER_VECTORS                                                                                            \
  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", \
      "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25"

#define INFERMETER_DOT_PRODUCTS(name, extension, instruction, operands, one)                            \
  void name(std::uint64_t loops, void* accumulators) {                                                  \
    asm volatile(extension                                                                              \
                 "dup v24.4s, %w[ones]\n\t"                                                             \
                 "dup v25.4s, %w[ones]\n\t" INFERMETER_EACH_OF_24 "movi v\\i\\().4s, #0" INFERMETER_END \
                 ".p2align 6\n"                                                                         \
                 "1:\n\t" INFERMETER_EACH_OF_24 instruction " v\\i\\().4s, " operands INFERMETER_END    \
                 "subs %[loops], %[loops], #1\n\t"                                                      \
                 "b.ne 1b\n\t" INFERMETER_EACH_OF_24 "str q\\i, [%[out], #(\\i*16)]" INFERMETER_END     \
                 : [loops] "+&r"(loops)                                                                 \
                 : [out] "r"(accumulators), [ones] "r"(one)                                             \
                 : "cc", "memory", INFERMETER_VECTORS);                                                 \
  }

INFERMETER_DOT_PRODUCTS(fma_128, "", "fmla", "v24.4s, v25.4s", one_float32)
INFERMETER_DOT_PRODUCTS(bfloat16_matrix, INFERMETER_V8_6, "bfmmla", "v24.8h, v25.8h", one_bfloat16)
INFERMETER_DOT_PRODUCTS(int8_matrix, INFERMETER_V8_6, "smmla", "v24.16b, v25.16b", one_int8)
INFERMETER_DOT_PRODUCTS(int8_dot, INFERMETER_V8_6, "sdot", "v24.16b, v25.16b", one_int8)

std::uint64_t read_128(const std::byte* begin, std::size_t bytes, std::size_t passes) {
  alignas(64) std::array<std::uint64_t, 32> last{};
  const std::byte* const end = begin + bytes;
  const std::byte* at = begin;
  asm volatile(
      "1:\n\t"
      "mov %[at], %[begin]\n\t"
      ".p2align 6\n"
      "2:\n\t" INFERMETER_EACH_OF_16 "ldr q\\i, [%[at], #(\\i*16)]" INFERMETER_END
      "add %[at], %[at], #256\n\t"
      "cmp %[at], %[end]\n\t"
      "b.lo 2b\n\t"
      "subs %[passes], %[passes], #1\n\t"
      "b.ne 1b\n\t" INFERMETER_EACH_OF_16 "str q\\i, [%[out], #(\\i*16)]" INFERMETER_END
      : [at] "+&r"(at), [passes] "+&r"(passes)
      : [begin] "r"(begin), [end] "r"(end), [out] "r"(last.data())
      : "cc", "memory", INFERMETER_VECTORS);
  std::uint64_t sum = 0;
  for (const std::uint64_t word : last) sum ^= word;
  return sum;
}

// STNP says that what is written will not be read soon.
void triad_128(float* a, const float* b, const float* c, std::size_t bytes) {
  const float* const end = a + bytes / sizeof(float);
  asm volatile(
      "fmov v24.4s, #3.0\n"
      "1:\n\t"
      ".irp i, 0, 2, 4, 6\n\t"
      "ldp q16, q17, [%[c], #(\\i*16)]\n\t"
      "ldp q18, q19, [%[b], #(\\i*16)]\n\t"
      "fmla v18.4s, v16.4s, v24.4s\n\t"
      "fmla v19.4s, v17.4s, v24.4s\n\t"
      "stnp q18, q19, [%[a], #(\\i*16)]" INFERMETER_END
      "add %[a], %[a], #128\n\t"
      "add %[b], %[b], #128\n\t"
      "add %[c], %[c], #128\n\t"
      "cmp %[a], %[end]\n\t"
      "b.lo 1b"
      : [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c)
      : [end] "r"(end)
      : "cc", "memory", INFERMETER_VECTORS);
}

std::vector<ComputeKernel> find_compute_kernels() {
  constexpr double per_product = 2 * instructions_per_loop;
  constexpr std::size_t bytes = 24 * 16;
  const unsigned long has = getauxval(AT_HWCAP), has_too = getauxval(AT_HWCAP2);
  std::vector<ComputeKernel> found{{"float32", "NEON FMA", per_product * 4, false, bytes, fma_128}};
  if ((has_too & HWCAP2_BF16) != 0)
    found.push_back({"bfloat16", "NEON BFMMLA", per_product * 16, false, bytes, bfloat16_matrix});
  if ((has_too & HWCAP2_I8MM) != 0) found.push_back({"int8", "NEON SMMLA", per_product * 32, true, bytes, int8_matrix});
  if ((has & HWCAP_ASIMDDP) != 0) found.push_back({"int8", "NEON SDOT", per_product * 16, true, bytes, int8_dot});
  return found;
}

std::vector<std::string> find_missing() {
  const unsigned long has = getauxval(AT_HWCAP), has_too = getauxval(AT_HWCAP2);
  std::vector<std::string> missing;
  if ((has_too & HWCAP2_BF16) == 0) missing.emplace_back("bfloat16: this processor has no BFMMLA");
  if ((has_too & HWCAP2_I8MM) == 0 && (has & HWCAP_ASIMDDP) == 0)
    missing.emplace_back("int8: this processor has neither SMMLA nor SDOT");
  return missing;
}

}  // namespace

const std::vector<ComputeKernel>& compute_kernels() {
  static const std::vector<ComputeKernel> kernels = find_compute_kernels();
  return kernels;
}

const std::vector<MemoryKernels>& memory_kernels() {
  static const std::vector<MemoryKernels> kernels{{"NEON", 16, read_128, triad_128}};
  return kernels;
}

const std::vector<std::string>& missing_kernels() {
  static const std::vector<std::string> missing = find_missing();
  return missing;
}

}  // namespace infermeter

#endif
