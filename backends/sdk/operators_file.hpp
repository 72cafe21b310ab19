// operators.json: the operators that a back end saw its runtime execute, for runtimes that write no profile of their
// own (docs/abi.md, docs/schema/operators.schema.json).
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sdk/abi_edge.hpp"

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

// Throws Failure if the file cannot be written.
inline void write_operators(const OperatorsFile& file, const std::string& folder) {
  using json = nlohmann::ordered_json;  // operators before their times: of a file that is cut something can be read
  json operators = json::array(), sources = json::array();
  for (const auto& o : file.operators) {
    operators.push_back({{"name", o.name},
                         {"kind", o.kind},
                         {"kernel", o.kernel},
                         {"precision", o.precision},
                         {"layout", o.layout},
                         {"shapes", o.shapes},
                         {"provider", o.provider},
                         {"origin_names", o.origin_names},
                         {"inputs", o.inputs},
                         {"outputs", o.outputs}});
  }
  for (const auto& s : file.sources)
    sources.push_back({{"name", s.name}, {"available", s.available}, {"detail", s.detail}});
  json whole = {{"format", "infermeter-operators"},
                {"version", 1},
                {"source", file.source},
                {"clock", file.clock},
                {"iterations", file.iterations},
                {"cut", file.cut},
                {"operators", std::move(operators)},
                {"sources", std::move(sources)}};
  if (file.mean_ns.empty()) {
    whole["events"] = {{"iteration", file.iteration},
                       {"op", file.op},
                       {"thread", file.thread},
                       {"begin_ns", file.begin_ns},
                       {"duration_ns", file.duration_ns}};
  } else {
    whole["means"] = {{"duration_ns", file.mean_ns}, {"calls", file.mean_calls}};
  }
  const std::string path = folder + "/operators.json";
  std::ofstream stream(path, std::ios::binary);
  // Names out of a model may be any bytes.
  stream << whole.dump(-1, ' ', false, json::error_handler_t::replace);
  if (!stream.flush()) fail(IMB_RUN_ERROR, "the profile cannot be written to " + path);
}

}  // namespace infermeter
