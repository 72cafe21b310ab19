// The files that a back end wrote while it was profiled -> OperatorProfile. Bytes from outside: anything in them may be
// cut, foreign or hostile. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/model_graph.hpp"
#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

// Of the trial whose timed iterations are in `trial`. Errors: none of the files is a profile that is known, or it holds
// nothing of this trial's iterations. A file that ends early gives what there is, with `cut`. `compiled`: the runtime's
// own graph, read from optimized.onnx, gives the operators' kinds, inputs and outputs; nullptr: there is none.
[[nodiscard]] Result<OperatorProfile> read_operator_profile(std::span<const ProfileFile> files,
                                                            const ModelGraph* compiled, const Samples& trial);

// Whether a profile that cannot be read is one that is too long: its file is, or its profiler ended before what is
// wanted.
[[nodiscard]] bool has_too_much(std::span<const ProfileFile> files);

// onnxruntime.json: ONNX Runtime's own profile (docs: onnxruntime.ai, "Profiling"). Which `model_run` event is which
// iteration, and where in it, is reported by the clocks if `start_ns`, its beginning in CLOCK_REALTIME, is known; else
// the last ones are the timed iterations, each in the middle of its wall time.
[[nodiscard]] Result<OperatorProfile> parse_onnxruntime_profile(std::string_view json, const ModelGraph* compiled,
                                                                const Samples& trial,
                                                                std::optional<std::int64_t> start_ns = std::nullopt);
// operators.json: our own format, written by back ends that have none (docs/schema/operators.schema.json).
[[nodiscard]] Result<OperatorProfile> parse_operators(std::string_view json, const Samples& trial);
// torch.json: torch.profiler's Chrome trace; iterations are its `infermeter_iteration` user annotations.
[[nodiscard]] Result<OperatorProfile> parse_torch_trace(std::string_view json, const Samples& trial);

}  // namespace infermeter
