#if defined(__x86_64__)

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "infermeter/trial/machine/peak_kernels.hpp"

namespace infermeter {
namespace {

// Operations of one instruction (Intel SDM vol. 2; AMD APM vol. 4): an FMA is a product and a sum per lane of 4 bytes;
// VDPBF16PS makes 2 products and 2 sums per lane, VPDPBUSD 4 and 4. A tile instruction multiplies 16 x 64 bytes by
// 64 x 16 bytes into 16 x 16 lanes: 16 x 16 x 32 products and as many sums for bfloat16, 16 x 16 x 64 for int8.
constexpr std::uint32_t one_float32 = 0x3f800000;
constexpr std::uint32_t one_bfloat16 = 0x3f803f80;
constexpr std::uint32_t one_int8 = 0x01010101;

// The assembler repeats what stands between .irp and .endr, with \i the next of the list each time.
#define INFERMETER_EACH_OF_4 ".irp i, 0, 1, 2, 3\n\t"
#define INFERMETER_EACH_OF_12 ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n\t"
#define INFERMETER_END "\n\t.endr\n\t"
#define INFERMETER_VECTORS                                                                                            \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
      "xmm14", "xmm15"

// Twelve accumulators hide the latency of every processor so far: latency times throughput is 10 at most (Haswell: 5
// cycles, 2 a cycle; uops.info). Each twice in a loop, so that counting loops costs nothing.
constexpr double instructions_per_loop = 24;
#define INFERMETER_DOT_PRODUCTS(name, instruction, vector, size, one)                                                \
  void name(std::uint64_t loops, void* accumulators) {                                                               \
    const std::uint32_t ones = one;                                                                                  \
    asm volatile("vpbroadcastd %[ones], %%" vector                                                                   \
                 "12\n\t"                                                                                            \
                 "vpbroadcastd %[ones], %%" vector "13\n\t" INFERMETER_EACH_OF_12                                    \
                 "vpxor %%xmm\\i, %%xmm\\i, %%xmm\\i" INFERMETER_END                                                 \
                 ".p2align 6\n"                                                                                      \
                 "1:\n\t" INFERMETER_EACH_OF_12 instruction " %%" vector "12, %%" vector "13, %%" vector             \
                 "\\i" INFERMETER_END INFERMETER_EACH_OF_12 instruction " %%" vector "12, %%" vector "13, %%" vector \
                 "\\i" INFERMETER_END                                                                                \
                 "dec %[loops]\n\t"                                                                                  \
                 "jnz 1b\n\t" INFERMETER_EACH_OF_12 "vmovups %%" vector "\\i, \\i*" size "(%[out])" INFERMETER_END   \
                 "vzeroupper"                                                                                        \
                 : [loops] "+&r"(loops)                                                                              \
                 : [out] "r"(accumulators), [ones] "m"(ones)                                                         \
                 : "cc", "memory", INFERMETER_VECTORS);                                                              \
  }

INFERMETER_DOT_PRODUCTS(fma_512, "vfmadd231ps", "zmm", "64", one_float32)
INFERMETER_DOT_PRODUCTS(fma_256, "vfmadd231ps", "ymm", "32", one_float32)
INFERMETER_DOT_PRODUCTS(bfloat16_512, "vdpbf16ps", "zmm", "64", one_bfloat16)
INFERMETER_DOT_PRODUCTS(int8_512, "vpdpbusd", "zmm", "64", one_int8)
INFERMETER_DOT_PRODUCTS(int8_256, "%{vex%} vpdpbusd", "ymm", "32", one_int8)

// Without FMA a product and a sum are two instructions.
void multiply_add_128(std::uint64_t loops, void* accumulators) {
  const std::uint32_t ones = one_float32;
  asm volatile(
      "movss %[ones], %%xmm12\n\t"
      "shufps $0, %%xmm12, %%xmm12\n\t" INFERMETER_EACH_OF_12 "xorps %%xmm\\i, %%xmm\\i" INFERMETER_END
      ".p2align 6\n"
      "1:\n\t" INFERMETER_EACH_OF_12
      "movaps %%xmm12, %%xmm13\n\t"
      "mulps %%xmm12, %%xmm13\n\t"
      "addps %%xmm13, %%xmm\\i" INFERMETER_END
      "dec %[loops]\n\t"
      "jnz 1b\n\t" INFERMETER_EACH_OF_12 "movups %%xmm\\i, \\i*16(%[out])" INFERMETER_END
      : [loops] "+&r"(loops)
      : [out] "r"(accumulators), [ones] "m"(ones)
      : "cc", "memory", INFERMETER_VECTORS);
}

// The operand of LDTILECFG (Intel SDM vol. 1, 18.3): palette 1, eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileShapes) == 64);

// There are eight tiles: six accumulate, two are the operands. Latency times throughput is below 4 (52 cycles, one
// every 16: Intel's optimisation reference manual on AMX).
constexpr double tile_instructions_per_loop = 6;
#define INFERMETER_EACH_TILE ".irp i, 0, 1, 2, 3, 4, 5\n\t"
#define INFERMETER_TILES(name, instruction, one)                                                              \
  void name(std::uint64_t loops, void* accumulators) {                                                        \
    const TileShapes shapes;                                                                                  \
    alignas(64) std::array<std::uint32_t, 256> ones{};                                                        \
    ones.fill(one);                                                                                           \
    asm volatile(                                                                                             \
        "ldtilecfg %[shapes]\n\t"                                                                             \
        "tileloadd (%[ones],%[stride],1), %%tmm6\n\t"                                                         \
        "tileloadd (%[ones],%[stride],1), %%tmm7\n\t" INFERMETER_EACH_TILE "tilezero %%tmm\\i" INFERMETER_END \
        ".p2align 6\n"                                                                                        \
        "1:\n\t" INFERMETER_EACH_TILE instruction " %%tmm7, %%tmm6, %%tmm\\i" INFERMETER_END                  \
        "dec %[loops]\n\t"                                                                                    \
        "jnz 1b\n\t" INFERMETER_EACH_TILE "tilestored %%tmm\\i, \\i*1024(%[out],%[stride],1)" INFERMETER_END  \
        "tilerelease"                                                                                         \
        : [loops] "+&r"(loops)                                                                                \
        : [shapes] "m"(shapes), [ones] "r"(ones.data()), [out] "r"(accumulators), [stride] "r"(64L)           \
        : "cc", "memory");                                                                                    \
  }

INFERMETER_TILES(bfloat16_tiles, "tdpbf16ps", one_bfloat16)
INFERMETER_TILES(int8_tiles, "tdpbusd", one_int8)

#define INFERMETER_EACH_OF_16 ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
#define INFERMETER_READ(name, load, store, vector, size, finish)                                                   \
  std::uint64_t name(const std::byte* begin, std::size_t bytes, std::size_t passes) {                              \
    alignas(64) std::array<std::uint64_t, 128> last{};                                                             \
    const std::byte* const end = begin + bytes;                                                                    \
    const std::byte* at = begin;                                                                                   \
    asm volatile(                                                                                                  \
        "1:\n\t"                                                                                                   \
        "mov %[begin], %[at]\n\t"                                                                                  \
        ".p2align 6\n"                                                                                             \
        "2:\n\t" INFERMETER_EACH_OF_16 load " \\i*" size "(%[at]), %%" vector "\\i" INFERMETER_END "add $16*" size \
        ", %[at]\n\t"                                                                                              \
        "cmp %[end], %[at]\n\t"                                                                                    \
        "jb 2b\n\t"                                                                                                \
        "dec %[passes]\n\t"                                                                                        \
        "jnz 1b\n\t" INFERMETER_EACH_OF_16 store " %%" vector "\\i, \\i*" size "(%[out])" INFERMETER_END finish    \
        : [at] "+&r"(at), [passes] "+&r"(passes)                                                                   \
        : [begin] "r"(begin), [end] "r"(end), [out] "r"(last.data())                                               \
        : "cc", "memory", INFERMETER_VECTORS);                                                                     \
    std::uint64_t sum = 0;                                                                                         \
    for (const std::uint64_t word : last) sum ^= word;                                                             \
    return sum;                                                                                                    \
  }

INFERMETER_READ(read_512, "vmovaps", "vmovups", "zmm", "64", "vzeroupper")
INFERMETER_READ(read_256, "vmovaps", "vmovups", "ymm", "32", "vzeroupper")
INFERMETER_READ(read_128, "movaps", "movups", "xmm", "16", "")

#define INFERMETER_TRIAD(name, three_times, vectors, step, finish)                             \
  void name(float* a, const float* b, const float* c, std::size_t bytes) {                     \
    const float three = 3;                                                                     \
    std::size_t at = 0;                                                                        \
    asm volatile(three_times "1:\n\t" INFERMETER_EACH_OF_4 vectors INFERMETER_END "add $" step \
                             ", %[at]\n\t"                                                     \
                             "cmp %[bytes], %[at]\n\t"                                         \
                             "jb 1b\n\t"                                                       \
                             "sfence\n\t" finish                                               \
                 : [at] "+&r"(at)                                                              \
                 : [a] "r"(a), [b] "r"(b), [c] "r"(c), [bytes] "r"(bytes), [three] "m"(three)  \
                 : "cc", "memory", INFERMETER_VECTORS);                                        \
  }

INFERMETER_TRIAD(triad_512, "vbroadcastss %[three], %%zmm12\n",
                 "vmovaps \\i*64(%[c],%[at]), %%zmm\\i\n\t"
                 "vfmadd213ps \\i*64(%[b],%[at]), %%zmm12, %%zmm\\i\n\t"
                 "vmovntps %%zmm\\i, \\i*64(%[a],%[at])",
                 "256", "vzeroupper")
INFERMETER_TRIAD(triad_256, "vbroadcastss %[three], %%ymm12\n",
                 "vmovaps \\i*32(%[c],%[at]), %%ymm\\i\n\t"
                 "vfmadd213ps \\i*32(%[b],%[at]), %%ymm12, %%ymm\\i\n\t"
                 "vmovntps %%ymm\\i, \\i*32(%[a],%[at])",
                 "128", "vzeroupper")
INFERMETER_TRIAD(triad_128, "movss %[three], %%xmm12\n\tshufps $0, %%xmm12, %%xmm12\n",
                 "movaps \\i*16(%[c],%[at]), %%xmm\\i\n\t"
                 "mulps %%xmm12, %%xmm\\i\n\t"
                 "addps \\i*16(%[b],%[at]), %%xmm\\i\n\t"
                 "movntps %%xmm\\i, \\i*16(%[a],%[at])",
                 "64", "")

// The kernel gives the tiles' state to processes that ask for it (Linux, Documentation/arch/x86/xstate.rst).
bool tiles_granted() {
  constexpr long request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long tile_data = 18;               // XFEATURE_XTILE_DATA
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

bool has_avx2_fma() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_bfloat16_tiles() { return __builtin_cpu_supports("amx-bf16") && tiles_granted(); }
bool has_int8_tiles() { return __builtin_cpu_supports("amx-int8") && tiles_granted(); }

std::vector<ComputeKernel> find_compute_kernels() {
  constexpr double per_lane = 2 * instructions_per_loop;  // operations of a loop per product of an instruction
  constexpr double per_tile = 2 * tile_instructions_per_loop * 16 * 16;
  std::vector<ComputeKernel> found;
  const auto add = [&](bool runs, const ComputeKernel& kernel) {
    if (runs) found.push_back(kernel);
  };
  add(__builtin_cpu_supports("avx512f"), {"float32", "AVX-512 FMA", per_lane * 16, false, 12 * 64, fma_512});
  add(has_avx2_fma(), {"float32", "AVX2 FMA", per_lane * 8, false, 12 * 32, fma_256});
  add(true, {"float32", "SSE multiply and add", per_lane / 2 * 4, false, 12 * 16, multiply_add_128});
  add(has_bfloat16_tiles(), {"bfloat16", "AMX-BF16", per_tile * 32, false, 6 * 1024, bfloat16_tiles});
  add(__builtin_cpu_supports("avx512bf16"), {"bfloat16", "AVX-512 BF16", per_lane * 32, false, 12 * 64, bfloat16_512});
  add(has_int8_tiles(), {"int8", "AMX-INT8", per_tile * 64, true, 6 * 1024, int8_tiles});
  add(__builtin_cpu_supports("avx512vnni"), {"int8", "AVX-512 VNNI", per_lane * 64, true, 12 * 64, int8_512});
  add(__builtin_cpu_supports("avxvnni"), {"int8", "AVX-VNNI", per_lane * 32, true, 12 * 32, int8_256});
  return found;
}

std::vector<MemoryKernels> find_memory_kernels() {
  std::vector<MemoryKernels> found;
  if (__builtin_cpu_supports("avx512f")) found.push_back({"AVX-512", 64, read_512, triad_512});
  if (has_avx2_fma()) found.push_back({"AVX2", 32, read_256, triad_256});
  found.push_back({"SSE", 16, read_128, triad_128});
  return found;
}

std::vector<std::string> find_missing() {
  std::vector<std::string> missing;
  const auto has = [](const char* dtype) {
    for (const ComputeKernel& kernel : compute_kernels())
      if (std::strcmp(kernel.dtype, dtype) == 0) return true;
    return false;
  };
  if (!has("bfloat16")) missing.emplace_back("bfloat16: this processor has neither AMX-BF16 nor AVX-512 BF16");
  if (!has("int8")) missing.emplace_back("int8: this processor has none of AMX-INT8, AVX-512 VNNI and AVX-VNNI");
  return missing;
}

}  // namespace

const std::vector<ComputeKernel>& compute_kernels() {
  static const std::vector<ComputeKernel> kernels = find_compute_kernels();
  return kernels;
}

const std::vector<MemoryKernels>& memory_kernels() {
  static const std::vector<MemoryKernels> kernels = find_memory_kernels();
  return kernels;
}

const std::vector<std::string>& missing_kernels() {
  static const std::vector<std::string> missing = find_missing();
  return missing;
}

}  // namespace infermeter

#endif
