// Graph: an ONNX model in the making. Nodes, the tensors they make and the modules of torchvision share their names:
// node "layer1.0.conv1" reads "layer1.0.conv1.weight" and makes the tensor "layer1.0.conv1".
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "infermeter/models/zoo/weights.hpp"

namespace infermeter {

class Graph {
 public:
  using Dimensions = std::vector<std::int64_t>;
  using Attribute = std::pair<std::string, std::variant<std::int64_t, float, std::vector<std::int64_t>>>;

  // `input` and `output` are the shapes behind the dynamic first dimension "batch".
  Graph(const std::string& name, const Dimensions& input, const Dimensions& output);

  // Adds a node and returns the tensor it makes, which has the node's name.
  std::string node(const std::string& op, const std::string& name, const std::vector<std::string>& inputs,
                   const std::vector<Attribute>& attributes = {});
  // The same for a node that makes several: "name.0", "name.1", …
  std::vector<std::string> split(const std::string& name, const std::string& input, const Dimensions& parts,
                                 std::int64_t axis);
  // Names the tensor `last` makes "output".
  void finish(const std::string& last);

  std::string weight(const std::string& name, const Dimensions& shape, const Draw& draw);
  // Drawn as torch has it, [out, in], and stored as MatMul wants it, [in, out].
  std::string transposed_weight(const std::string& name, std::int64_t out, std::int64_t in, const Draw& draw);
  std::string integers(const std::string& name, const Dimensions& values);
  // A scalar that is no parameter: a Constant node, not an initialiser.
  std::string constant(const std::string& name, float value);

  // BatchNormalization with weight, bias, running_mean, running_var near 1, 0, 0, 1; `gamma` is the weights' mean.
  std::string batch_norm(const std::string& name, const std::string& input, std::int64_t channels, double gamma,
                         float epsilon);
  // Gemm with weight [out, in] and bias.
  std::string linear(const std::string& name, const std::string& input, std::int64_t out, std::int64_t in, double sd);

  [[nodiscard]] const onnx::ModelProto& model() const { return model_; }

 private:
  onnx::TensorProto* add_initializer(const std::string& name, const Dimensions& shape,
                                     onnx::TensorProto::DataType type);

  onnx::ModelProto model_;
};

// Standard deviation of weights that keep the scale of what flows through: gain / √fan_in (He et al. 2015).
[[nodiscard]] double fan_in_sd(double gain, std::int64_t fan_in);
inline constexpr double relu_gain = 1.4142135623730951;  // √2

}  // namespace infermeter
