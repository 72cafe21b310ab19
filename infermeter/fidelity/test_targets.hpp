// For tests: kernels on every set of instructions that this machine has.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "infermeter/fidelity/instructions.hpp"

namespace infermeter {

// Calls `use()` once per set of instructions, widest first, and says in failures which one it was.
template <class Use>
void on_each_target(Use use) {
  const Instructions widest = widest_instructions();
  constexpr std::array names = {"baseline", "SSE4", "AVX2", "AVX-512"};
  for (auto now = static_cast<int>(widest); now >= 0; --now) {
    SCOPED_TRACE(names.at(static_cast<std::size_t>(now)));
    limit_instructions(static_cast<Instructions>(now));
    use();
  }
  limit_instructions(widest);
}

}  // namespace infermeter
