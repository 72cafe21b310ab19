// operators.json: the operators that a back end saw its runtime execute, for runtimes that write no profile of their
// own (docs/abi.md, docs/schema/operators.schema.json).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace infermeter {

struct OperatorsFile {
  struct Operator {
    std::string name, kind, kernel, precision, layout, shapes, provider;  // empty: not reported
    std::vector<std::string> origin_names;                                // nodes of the model that the runtime names
    std::vector<std::string> inputs, outputs;                             // tensors of the compiled graph
  };
  struct Source {
    std::string name;
    bool available = false;
    std::string detail;
  };

  std::string source;              // where the operators' times are from: "OpenVINO 2026.4.1's counters"
  std::string clock = "realtime";  // of begin_ns: "realtime", "monotonic", or "iteration": from the iteration's begin
  std::vector<Operator> operators;
  std::uint64_t iterations = 0;
  // Events, of equal lengths; `op`: index into operators.
  std::vector<std::uint32_t> iteration, op, thread;
  std::vector<std::int64_t> begin_ns, duration_ns;
  // Or one mean per operator and iteration, and no events.
  std::vector<double> mean_ns, mean_calls;
  std::vector<Source> sources;  // of what else there is, or is not: "graph"
  bool cut = false;             // events of later iterations were left out
};

// The host keeps no more.
inline constexpr std::size_t most_operator_events = 200'000;

// Throws Failure if the file cannot be written. Of a library of its own, infermeter_operators_file: in a back
// end, the templates of JSON are a third of what it takes to compile.
void write_operators(const OperatorsFile& file, const std::string& folder);

}  // namespace infermeter
