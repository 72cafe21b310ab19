// An ONNX file written again with its intermediate tensors among its outputs, so that any runtime reports them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/model_facts.hpp"

namespace infermeter {

struct ExposedTensor {
  std::string name;
  std::string node, op;      // what makes it: the node's name, "" if it has none, and its operator
  std::size_t position = 0;  // of that node in the file, where nodes stand behind those whose tensors they read
};

struct ExposedModel {
  ModelFacts file;                     // the copy
  std::vector<ExposedTensor> tensors;  // a tensor for each of its outputs, in their order
};

// Writes the copy, and links or copies its weight files, into `folder`, which is empty. What nodes of the main graph
// make is exposed; constants are not, nor what lies inside of subgraphs (If, Loop, Scan) and functions. The outputs get
// names and no types, which runtimes infer. Refuses, naming the file: what is not ONNX, more tensors than runtimes'
// back ends read, a copy of 2 GiB (where protocol buffers end).
[[nodiscard]] Result<ExposedModel> expose_outputs(const ModelFacts& model, const std::filesystem::path& folder);

}  // namespace infermeter
