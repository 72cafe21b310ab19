// What a profiler of Python code left of a profile trial -> TrialStacks. Bytes from outside: anything in them may be
// cut, foreign or hostile. Pure.
#pragma once

#include <optional>
#include <span>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/samples/stack_profile.hpp"

namespace infermeter {

// Of py_spy.txt, cprofile.txt or pyinstrument.txt, all of them collapsed stacks; nullopt: none of them is there. Frames
// are "function (file:line of its beginning)"; those of our own worker around the model are left out. Errors: as
// parse_collapsed_stacks.
[[nodiscard]] Result<std::optional<TrialStacks>> read_python_stacks(std::span<const ProfileFile> files);

}  // namespace infermeter
