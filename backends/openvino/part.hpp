// What only OpenVINO's C++ shows: when each operator began, and the graph that was compiled. It is in a library of its
// own (part.cpp), built against one release, whose C++ interface no other has.
#pragma once

#include <openvino/c/openvino.h>

#include <cstdint>
#include <string>
#include <vector>

#include "infermeter_backend.h"

namespace infermeter {

// A row of OpenVINO's counters. Rows keep their order from one reading to the next.
struct Counter {
  std::string name, kind, kernel;
  std::int64_t begin_us = 0;  // of the last run, of the system's clock; 0: never, or not reported
  std::int64_t mean_us = 0;   // of all runs since the model was compiled
};

// A node of the compiled graph, in the order of execution. Constants are not among them.
struct GraphNode {
  std::string name, kind, kernel, precision, layout, shapes;
  std::vector<std::string> origin_names, inputs, outputs;
  bool is_port = false;  // an input or output of the model: no operator
};

struct Part {
  const char* version;  // of the headers: "2026.4.1"
  imb_status (*read_counters)(const ov_infer_request_t* request, std::vector<Counter>& counters, imb_message message);
  imb_status (*read_graph)(const ov_compiled_model_t* compiled, std::vector<GraphNode>& nodes, imb_message message);
};

}  // namespace infermeter
