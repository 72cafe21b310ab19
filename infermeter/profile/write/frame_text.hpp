// How a frame of a sampled stack is called in files.
#pragma once

#include <string>
#include <string_view>

#include "infermeter/samples/stack_profile.hpp"

namespace infermeter {

// "symbol"; without one "[libonnxruntime.so+0x1234]"; without both "[unknown]". Valid UTF-8 without control characters.
[[nodiscard]] std::string frame_text(const StackFrame& frame);

// As one frame of a line of collapsed stacks: ';' parts frames there, so it becomes ':'.
[[nodiscard]] std::string collapsed_frame(std::string_view text);

}  // namespace infermeter
