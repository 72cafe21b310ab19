// For tests: kernels on every set of instructions that this machine has.
#pragma once

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <gtest/gtest.h>

namespace infermeter {

// Calls `use()` once per target that the kernels were compiled for, widest first, and says in failures which one it
// was.
template <class Use>
void on_each_target(Use use) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();  // so that the next call chooses anew
    use();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace infermeter
