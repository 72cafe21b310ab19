// OperatorProfile: what a profile trial leaves beside its Samples: the operators that a runtime executed, and when. A
// profile trial is never a timed one. Base units: seconds, bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace infermeter {

// By what an operator was found to execute nodes of the model, from the surest to the least sure.
enum class OriginRule {
  exact,     // the runtime names the node, or the operator has its name
  tensor,    // it makes a tensor of the model's
  suffix,    // its name is a node's or a tensor's, with an addition of the runtime's own
  inferred,  // nobody says so: it follows from what lies around it
  none,      // it executes nothing of the model: a conversion of layout or precision, say
};
[[nodiscard]] std::string_view to_string(OriginRule rule);
[[nodiscard]] bool name_to_value(std::string_view name, OriginRule& rule);

// An operator of the graph that the runtime made of the model. All texts are the runtime's words: hostile.
struct ProfiledOperator {
  std::string name;
  std::string kind;       // "Conv", "Reorder"
  std::string kernel;     // implementation: "jit_avx512_f32", "NchwcConv"; empty: not reported
  std::string precision;  // executed: "float32"; empty: not reported
  std::string layout;     // "NCHWc", "abcd"; empty: not reported
  std::string shapes;     // "(1, 3, 224, 224), (64, 3, 7, 7) -> (1, 64, 112, 112)"; empty: not reported
  std::string provider;   // "CPUExecutionProvider"; empty: not reported
  // What the runtime reports about where it comes from: names of the model's nodes; and its place in the compiled
  // graph.
  std::vector<std::string> origin_names;
  std::vector<std::string> inputs, outputs;  // tensors of the compiled graph; empty: not reported
  // Bytes that it holds, where the runtime reports.
  std::optional<std::uint64_t> activation_bytes, parameter_bytes, output_bytes, arena_peak_bytes;
  // Of the runtime's arena when the operator had ended: the highest of all inferences, as the peak is.
  std::optional<std::uint64_t> arena_in_use_bytes{};

  // Found by attribution (profile/attribution.hpp), with a model's graph.
  std::vector<std::string> nodes{};     // of the model, that it executes
  OriginRule rule = OriginRule::none;   // the least sure one of the names; inferred: there were none, or in doubt
  std::optional<double> flops{};        // of its nodes
  std::optional<double> moved_bytes{};  // its inputs, weights and outputs, each once, in the executed precision
};

// What a source gave, or why it did not: "operators", "graph", "stacks".
struct ProfileSource {
  std::string name;
  bool available = false;
  std::string detail;  // "ONNX Runtime's profile", or the reason in one sentence
};

struct OperatorProfile {
  int position = 0;  // of the side trial that it belongs to
  std::vector<ProfileSource> sources;
  std::vector<ProfiledOperator> operators;  // in execution order

  // Events in order of iteration and time, of equal lengths. `iteration`: index into the trial's timed iterations.
  // `begin_s`: since that iteration's begin. Main thread: 0.
  std::vector<std::uint32_t> iteration, op, thread;
  std::vector<double> begin_s, duration_s;
  // Instead, where a source has sums only: seconds per iteration and calls per iteration, one per operator. Then there
  // are no events.
  std::vector<double> mean_s, mean_calls;

  bool cut = false;  // events beyond the cap, or after the worker's end, are missing
  // The trace that the runtime's own profiler wrote, gzip, as it is: hostile. Empty: there is none.
  std::string own_trace{};

  [[nodiscard]] bool has_events() const { return !iteration.empty(); }
};

// A file that a back end wrote while it was profiled; docs/abi.md lists their names.
struct ProfileFile {
  std::string name;        // "onnxruntime.json", "optimized.onnx", "operators.json"
  std::string bytes;       // hostile
  bool too_large = false;  // to be read: there are no bytes
};

// What the files of a trial may take together.
inline constexpr std::size_t kMostFolderBytes = std::size_t{512} << 20U;

inline constexpr std::size_t kMostTraceBytes = std::size_t{64} << 20U;  // of an own trace; a larger one is left out

// More events than this are not kept: what is beyond belongs to later iterations, which are then left out whole.
inline constexpr std::size_t kMostProfileEvents = 200'000;

}  // namespace infermeter
