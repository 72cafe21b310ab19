// TorchScript files: torch::jit::load and module.forward, as a program of one's own would call them.
#include <ATen/core/ivalue.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <span>
#include <utility>

#include "errors.hpp"
#include "ports.hpp"
#include "values.hpp"

namespace infermeter {
namespace {

constexpr int deepest = 16;  // of tuples, lists and dictionaries within each other

std::string key_text(const c10::IValue& key, std::size_t place) {
  return key.isString() ? key.toStringRef() : std::to_string(place);
}

// Tensors in the order in which the program returns them, named by their place: "output", "output.0", "output.logits".
void flatten(const c10::IValue& value, const std::string& name, int depth, std::vector<NamedTensor>& out) {
  const auto inside = [&](const c10::IValue& part, const std::string& key) {
    if (depth == deepest) fail(IMB_UNSUPPORTED, "'" + name + "' holds too many values within each other");
    flatten(part, name + "." + key, depth + 1, out);
  };
  if (value.isTensor() || value.isNone()) {
    out.push_back({name, value.isTensor() ? value.toTensor() : at::Tensor()});
  } else if (value.isTuple()) {
    const auto& parts = value.toTupleRef().elements();
    for (std::size_t i = 0; i < parts.size(); ++i) inside(parts[i], std::to_string(i));
  } else if (value.isList()) {
    const auto parts = value.toListRef();
    for (std::size_t i = 0; i < parts.size(); ++i) inside(parts[i], std::to_string(i));
  } else if (value.isGenericDict()) {
    std::size_t place = 0;
    for (const auto& part : value.toGenericDict()) inside(part.value(), key_text(part.key(), place++));
  } else {
    fail(IMB_UNSUPPORTED,
         "'" + name + "' is of type " + value.tagKind() + ", and only tensors can be taken from a program");
  }
}

class ScriptInference final : public Inference {
 public:
  ScriptInference(torch::jit::Module& module, std::size_t input_count) : module_(module), inputs_(input_count) {}

  void set_input(std::size_t index, at::Tensor tensor) override { inputs_[index] = std::move(tensor); }
  void run() override {
    const c10::InferenceMode guard;
    result_ = module_.forward(inputs_);
  }
  [[nodiscard]] std::vector<NamedTensor> outputs() const override {
    std::vector<NamedTensor> tensors;
    flatten(result_, "output", 0, tensors);
    return tensors;
  }

 private:
  torch::jit::Module& module_;
  std::vector<c10::IValue> inputs_;
  c10::IValue result_;
};

class ScriptProgram final : public Program {
 public:
  explicit ScriptProgram(torch::jit::Module module) : module_(std::move(module)) {}
  [[nodiscard]] std::unique_ptr<Inference> make_inference() override {
    return std::make_unique<ScriptInference>(module_, inputs.size());
  }

 private:
  torch::jit::Module module_;
};

bool takes_tensor(const c10::TypePtr& type) {
  if (const auto optional = type->cast<c10::OptionalType>()) return takes_tensor(optional->getElementType());
  return type->kind() == c10::TypeKind::TensorType;
}

// The arguments that get a tensor: as many as there are shapes, or as the program cannot do without.
std::vector<std::string> argument_names(const c10::FunctionSchema& schema, std::size_t shape_count) {
  std::vector<std::string> names;
  for (const c10::Argument& argument : std::span(schema.arguments()).subspan(1)) {  // without self
    const bool needed = !argument.default_value().has_value();
    if (!needed && names.size() >= shape_count) break;
    if (!takes_tensor(argument.type())) {
      fail(IMB_UNSUPPORTED, "argument '" + argument.name() + "' of forward is not a tensor (" + argument.type()->str() +
                                "), and only tensors can be given to a program; give it a default, or wrap the module");
    }
    names.push_back(argument.name());
  }
  return names;
}

void check_count(const std::vector<std::string>& names, std::size_t shape_count) {
  if (shape_count == 0 || names.size() == shape_count) return;
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  fail(IMB_INVALID_ARGUMENT, "forward takes " + std::to_string(names.size()) + " tensors (" + list +
                                 "), and input_shape gives " + std::to_string(shape_count));
}

// As far as the declared type shows how many there will be.
std::vector<std::string> names_of_outputs(const c10::FunctionSchema& schema) {
  if (schema.returns().size() != 1) return {"output"};
  const auto tuple = schema.returns().front().type()->cast<c10::TupleType>();
  if (!tuple) return {"output"};
  std::vector<std::string> names;
  for (const c10::TypePtr& element : tuple->elements()) {
    if (!takes_tensor(element)) return {"output"};
    names.push_back("output." + std::to_string(names.size()));
  }
  return names;
}

// The precision is that of the float32 parts; what a file has in another one stays as it is.
void convert(const at::Tensor& tensor, at::ScalarType precision) {
  if (tensor.defined() && tensor.scalar_type() == at::kFloat) tensor.set_data(tensor.to(precision));
}

void describe(Program& program, const torch::jit::Module& module) {
  std::vector<at::ScalarType> types;
  for (const at::Tensor& parameter : module.parameters()) {
    convert(parameter, program.precision);
    types.push_back(parameter.scalar_type());
    program.parameters += static_cast<std::uint64_t>(parameter.numel());
  }
  for (const at::Tensor& buffer : module.buffers()) {
    convert(buffer, program.precision);
    types.push_back(buffer.scalar_type());
  }
  for (const Input& input : program.inputs) {
    types.push_back(input.port.dtype == IMB_FLOAT32 ? program.precision : *scalar_type_from(input.port.dtype));
  }
  program.dtype = floats_among(types);
}

}  // namespace

std::unique_ptr<Program> load_torchscript(const ProgramRequest& request) {
  const std::string path = request.load.model_path;
  return in_torch(IMB_MODEL_ERROR, "PyTorch could not load " + path, [&]() -> std::unique_ptr<Program> {
    // Weights that were made in this mode are run without a look at their versions.
    const c10::InferenceMode guard;
    torch::jit::Module module = torch::jit::load(path, request.device);
    module.eval();
    const auto forward = module.find_method("forward");
    if (!forward) fail(IMB_MODEL_ERROR, path + " has no method forward that could be run");
    const c10::FunctionSchema& schema = forward->function().getSchema();
    const auto& shapes = request.shapes.empty() ? request.data_shapes : request.shapes;
    const auto names = argument_names(schema, shapes.size());
    check_count(names, shapes.size());
    auto program = std::make_unique<ScriptProgram>(module);
    program->provider = "torchscript";
    program->device = request.device;
    program->precision = request.precision;
    program->inputs = inputs_of_script(names, shapes);
    program->output_names = names_of_outputs(schema);
    fix_dimensions(program->inputs, request.load);
    describe(*program, module);
    return program;
  });
}

}  // namespace infermeter
