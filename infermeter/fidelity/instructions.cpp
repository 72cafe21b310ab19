#include "infermeter/fidelity/instructions.hpp"

#include <algorithm>

namespace infermeter {
namespace {

// The levels of the x86-64 psABI are what Highway's targets need, but for AES and PCLMUL.
Instructions executed() {
#if defined(__x86_64__)
  const bool has_aes = __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
  if (has_aes && __builtin_cpu_supports("x86-64-v4")) return Instructions::avx512;
  if (has_aes && __builtin_cpu_supports("x86-64-v3")) return Instructions::avx2;
  if (has_aes && __builtin_cpu_supports("x86-64-v2")) return Instructions::sse4;
#endif
  return Instructions::baseline;
}

Instructions limit = Instructions::avx512;

}  // namespace

Instructions widest_instructions() {
  static const Instructions here = executed();
  return std::min(here, limit);
}

void limit_instructions(Instructions widest) { limit = widest; }

}  // namespace infermeter
