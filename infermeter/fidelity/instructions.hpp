// Kernels are compiled for several sets of instructions (Highway's targets), of which the widest one that this
// processor executes is taken.
//
// Highway's own choice, HWY_DYNAMIC_DISPATCH, is in libhwy, and Debian's libhwy measures how fine the clock is whenever
// it is loaded: 4 ms of each start of a program. Its headers need the library for assertions alone.
#pragma once

#include <type_traits>

// To be included before hwy/foreach_target.h. Those that are no faster here than their neighbours are left out, and
// elsewhere than on x86 all but the one that every processor has: vectors of SVE have no size, so that no struct can
// hold them.
#if defined(__x86_64__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | (HWY_AVX3 - 1))  // the wider a target, the lower is its bit
#else
#define HWY_COMPILE_ONLY_STATIC
#endif

namespace infermeter {

enum class Instructions { baseline, sse4, avx2, avx512 };

// The widest that this processor executes.
[[nodiscard]] Instructions widest_instructions();

// For tests: none wider are taken from now on.
void limit_instructions(Instructions widest);

// The first that is taken; those that were not compiled are null, the last one never is.
template <class Function>
Function* choose_kernel(std::type_identity_t<Function>* avx512, std::type_identity_t<Function>* avx2,
                        std::type_identity_t<Function>* sse4, Function* baseline) {
  const Instructions widest = widest_instructions();
  if (avx512 != nullptr && widest >= Instructions::avx512) return avx512;
  if (avx2 != nullptr && widest >= Instructions::avx2) return avx2;
  if (sse4 != nullptr && widest >= Instructions::sse4) return sse4;
  return baseline;
}

}  // namespace infermeter

// Of a function in the namespaces of the targets: the one to call. To be used after hwy/highway.h.
#define INFERMETER_KERNEL(function)                                                                            \
  ::infermeter::choose_kernel(HWY_CHOOSE_AVX3(function), HWY_CHOOSE_AVX2(function), HWY_CHOOSE_SSE4(function), \
                              HWY_CHOOSE_FALLBACK(function))
