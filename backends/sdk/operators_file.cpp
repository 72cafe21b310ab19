#include "sdk/operators_file.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "sdk/abi_edge.hpp"

namespace infermeter {

void write_operators(const OperatorsFile& file, const std::string& folder) {
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
