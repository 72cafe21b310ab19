// An empty sequence. The C API cannot make one; a model of one node can.
#pragma once

#include "library.hpp"
#include "sdk/port.hpp"

namespace infermeter {

// For a port that is a sequence, or an optional one. Throws Failure.
[[nodiscard]] Owned<OrtValue> make_empty_sequence(const OrtApi& api, const OrtEnv* environment, const PortFields& port);

}  // namespace infermeter
