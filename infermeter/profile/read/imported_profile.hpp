// Profiles that other tools wrote, with no trial of ours beside them: the inferences are the file's own. Bytes from
// outside: anything in them may be cut, foreign or hostile. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/model_graph.hpp"
#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/samples/stack_profile.hpp"

namespace infermeter {

enum class ProfileFormat { onnxruntime, torch, openvino_csv, openvino_json, operators, perf_script, collapsed };
// "ONNX Runtime's profile"
[[nodiscard]] std::string_view name_of(ProfileFormat format);
// By what is in it; nullopt: none of them.
[[nodiscard]] std::optional<ProfileFormat> format_of_profile(std::string_view bytes);

// Operators with the inferences that they are of: seconds since the first one's begin, of equal lengths.
struct SelfTimedProfile {
  std::vector<double> begin_s, end_s;
  OperatorProfile operators;
};

// The inferences are the file's `model_run` events, all of them. `compiled`: as for parse_onnxruntime_profile. Errors
// beside its own: inferences overlap, so that it cannot be determined whose operator is whose.
[[nodiscard]] Result<SelfTimedProfile> import_onnxruntime_profile(std::string_view json, const ModelGraph* compiled);
// They are `infermeter_iteration`, else `ProfilerStep#N` annotations; without either the whole trace is one.
[[nodiscard]] Result<SelfTimedProfile> import_torch_trace(std::string_view json);
// Each as long as its operators say: what lies between the last one's end and the inference's is not reported.
[[nodiscard]] Result<SelfTimedProfile> import_operators(std::string_view json);
// OpenVINO's benchmark_app -report_type average_counters or detailed_counters (samples/cpp/benchmark_app/
// statistics_report.cpp, and the Python one's): means over all inferences and no events; one inference stands for them,
// as long as their sum.
[[nodiscard]] Result<SelfTimedProfile> import_openvino_csv(std::string_view text);
[[nodiscard]] Result<SelfTimedProfile> import_openvino_json(std::string_view json);

// One of the two.
struct ImportedProfile {
  ProfileFormat format{};
  std::optional<SelfTimedProfile> timed;
  std::optional<StackProfile> stacks;
};
// Errors, each one sentence that begins with what the file is: nothing that is known, or as the reader has it.
[[nodiscard]] Result<ImportedProfile> import_profile(std::string_view bytes, const ModelGraph* compiled);

// More inferences of one file are refused: nobody profiles so many.
inline constexpr std::size_t kMostImportedIterations = 1'000'000;

}  // namespace infermeter
