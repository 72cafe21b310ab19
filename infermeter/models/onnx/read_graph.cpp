#include "infermeter/models/onnx/read_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <protozero/exception.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "infermeter/models/mapped_file.hpp"
#include "infermeter/models/onnx/count_flops.hpp"
#include "infermeter/models/onnx/infer_types.hpp"
#include "infermeter/models/onnx/onnx_graph.hpp"
#include "infermeter/models/onnx/port.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

// Names that nodes can be distinguished by.
class NodeNames {
 public:
  explicit NodeNames(const std::vector<OnnxNode>& nodes) {
    for (const OnnxNode& node : nodes) ++times_[node.name];
  }

  [[nodiscard]] std::string name(const OnnxNode& node, std::size_t position) {
    if (!node.name.empty() && times_[node.name] == 1) return std::string(node.name);
    std::string made = fmt::format("{}#{}", node.op, position);
    while (times_.contains(made)) made += '#';
    return made;
  }

 private:
  std::unordered_map<std::string_view, std::size_t> times_;
};

// Tensors get their indices in the order in which nodes name them.
class GraphMaker {
 public:
  GraphMaker(const OnnxGraph& file, const OnnxTypes& types) : file_(file), types_(types) {
    for (const OnnxWeight& weight : file.weights) constants_.insert(weight.name);
    for (const OnnxNode& node : file.nodes) {
      if (node.op != "Constant" || !node.domain.empty()) continue;
      constants_.insert(node.outputs.begin(), node.outputs.end());
    }
  }

  ModelGraph make() {
    NodeNames names(file_.nodes);
    ModelGraph graph;
    graph.nodes.reserve(file_.nodes.size());
    for (std::size_t i = 0; i < file_.nodes.size(); ++i) {
      const OnnxNode& node = file_.nodes[i];
      GraphNode& made = graph.nodes.emplace_back();
      made.name = names.name(node, i);
      made.kind = kind_of(node);
      made.flops = count_flops(file_, node, types_);
      for (const std::string_view input : node.inputs) {
        made.inputs.push_back(input.empty() ? SIZE_MAX : index_of(input, graph));
      }
      for (const std::string_view output : node.outputs) {
        if (!output.empty()) made.outputs.push_back(index_of(output, graph));
      }
    }
    return graph;
  }

 private:
  std::size_t index_of(std::string_view name, ModelGraph& graph) {
    const auto [found, is_new] = indices_.emplace(name, graph.tensors.size());
    if (!is_new) return found->second;
    GraphTensor& tensor = graph.tensors.emplace_back();
    tensor.name = name;
    tensor.is_constant = constants_.contains(name);
    const auto type = types_.find(tensor.name);
    if (type == types_.end()) return found->second;
    if (type->second.dtype != DType::undefined) tensor.dtype = to_string(type->second.dtype);
    tensor.shape = type->second.shape;
    return found->second;
  }

  const OnnxGraph& file_;
  const OnnxTypes& types_;
  std::unordered_set<std::string_view> constants_;
  std::unordered_map<std::string_view, std::size_t> indices_;
};

// `read` throws what the parsers throw.
template <class Read>
Result<ModelGraph> refusing(const std::string& what, const Read& read) {
  const auto refuse = [&](std::string_view why) {
    return model_error(fmt::format("the graph of {} cannot be read: {}", what, why));
  };
  try {
    return read();
  } catch (const Refused& refused) {
    return refuse(refused.why);
  } catch (const protozero::exception&) {
    return refuse("its contents are cut off or damaged");
  } catch (const std::bad_alloc&) {
    throw;  // says nothing of the model
  } catch (const std::exception& error) {
    return refuse(fmt::format("ONNX says {}", in_quotes(error.what())));
  }
}

}  // namespace

Result<ModelGraph> read_model_graph(const std::filesystem::path& onnx_file, std::int64_t batch, const Pairs& dimensions,
                                    const Pairs& batch_axes) {
  INFERMETER_TRY(const auto mapped, MappedFile::open(onnx_file));
  return refusing(in_quotes(onnx_file.string()), [&]() -> Result<ModelGraph> {
    OnnxGraph file = read_onnx_graph(mapped.bytes());
    INFERMETER_TRY_DONE(mapped.check_whole());
    INFERMETER_TRY_DONE(fix_dimensions(file, batch, dimensions, batch_axes));
    return GraphMaker(file, inferred_types(file)).make();
  });
}

Result<ModelGraph> read_graph_bytes(std::string_view onnx_bytes) {
  return refusing("a runtime's optimised model", [&]() -> Result<ModelGraph> {
    const OnnxGraph file = read_onnx_graph(onnx_bytes);
    return GraphMaker(file, declared_types(file)).make();
  });
}

}  // namespace infermeter
