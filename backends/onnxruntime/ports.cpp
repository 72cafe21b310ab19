#include "ports.hpp"

#include "sdk/dimensions.hpp"

namespace infermeter {
namespace {

struct Reader {
  const OrtApi& api;
  std::string where;  // "input 'x'"
  bool is_output = false;

  void must(OrtStatus* status) const { check(api, status, IMB_MODEL_ERROR, "ONNX Runtime did not describe " + where); }

  [[nodiscard]] imb_dtype element_type(const OrtTensorTypeAndShapeInfo* info) const {
    ONNXTensorElementDataType type{};
    must(api.GetTensorElementType(info, &type));
    const auto number = static_cast<unsigned>(type);
    if (number == 0 || number >= element_types.size()) {
      fail(IMB_UNSUPPORTED,
           where + " has an element type (number " + std::to_string(number) + ") that infermeter cannot carry");
    }
    return static_cast<imb_dtype>(number);
  }

  void read_tensor(const OrtTypeInfo* type, PortFields& port) const {
    const OrtTensorTypeAndShapeInfo* info = nullptr;
    must(api.CastTypeInfoToTensorInfo(type, &info));
    port.dtype = element_type(info);
    std::size_t rank = 0;
    must(api.GetDimensionsCount(info, &rank));
    port.shape.resize(rank);
    must(api.GetDimensions(info, port.shape.data(), rank));
    std::vector<const char*> names(rank);
    must(api.GetSymbolicDimensions(info, names.data(), rank));
    for (const char* name : names) port.dimension_names.emplace_back(name != nullptr ? name : "");
  }

  // What scikit-learn's classifiers give: of each item a map from classes to probabilities, handed out as a table.
  void read_maps(const OrtTypeInfo* type, PortFields& port) const {
    const OrtMapTypeInfo* map = nullptr;
    must(api.CastTypeInfoToMapTypeInfo(type, &map));
    OrtTypeInfo* value = nullptr;
    must(api.GetMapValueType(map, &value));
    const auto owner = owned(value, api.ReleaseTypeInfo);
    const OrtTensorTypeAndShapeInfo* info = nullptr;
    must(api.CastTypeInfoToTensorInfo(value, &info));
    if (info == nullptr) fail(IMB_UNSUPPORTED, where + " is a sequence of maps to something else than tensors");
    port.dtype = element_type(info);
    if (port.dtype == IMB_STRING) fail(IMB_UNSUPPORTED, where + " is a sequence of maps to strings");
    port.shape = {-1, -1};
    port.dimension_names = {"", ""};
  }

  void read_sequence(const OrtTypeInfo* type, PortFields& port) const {
    const OrtSequenceTypeInfo* sequence = nullptr;
    must(api.CastTypeInfoToSequenceTypeInfo(type, &sequence));
    OrtTypeInfo* element = nullptr;
    must(api.GetSequenceElementType(sequence, &element));
    const auto owner = owned(element, api.ReleaseTypeInfo);
    ONNXType kind{};
    must(api.GetOnnxTypeFromTypeInfo(element, &kind));
    if (kind == ONNX_TYPE_MAP && is_output) return read_maps(element, port);
    if (kind != ONNX_TYPE_TENSOR) fail(IMB_UNSUPPORTED, where + " is a sequence of something else than tensors");
    const OrtTensorTypeAndShapeInfo* info = nullptr;
    must(api.CastTypeInfoToTensorInfo(element, &info));
    port.kind = IMB_SEQUENCE;
    port.dtype = element_type(info);
    port.rank_known = false;
  }

  // An optional holds a tensor or a sequence, never another optional: at most one step down.
  void read_type(const OrtTypeInfo* type, PortFields& port) const {
    ONNXType kind{};
    must(api.GetOnnxTypeFromTypeInfo(type, &kind));
    if (kind == ONNX_TYPE_TENSOR) return read_tensor(type, port);
    if (kind == ONNX_TYPE_SEQUENCE) return read_sequence(type, port);
    if (kind != ONNX_TYPE_OPTIONAL || port.is_optional) {
      fail(IMB_UNSUPPORTED, where + " is a map, a sparse tensor or something stranger; tensors, sequences of tensors " +
                                "and optionals of both can be given and taken");
    }
    const OrtOptionalTypeInfo* optional = nullptr;
    must(api.CastTypeInfoToOptionalTypeInfo(type, &optional));
    OrtTypeInfo* contained = nullptr;
    must(api.GetOptionalContainedTypeInfo(optional, &contained));
    const auto owner = owned(contained, api.ReleaseTypeInfo);
    port.is_optional = true;
    read_type(contained, port);
  }
};

// As the file declares them, where it can be read: with named dimensions that the session has fixed already.
std::vector<std::int64_t> axes_of(const imb_load& load, std::vector<DeclaredInput> inputs,
                                  const OnnxDeclaration& declaration) {
  for (DeclaredInput& input : inputs) {
    for (const DeclaredInput& own : declaration.inputs) {
      if (own.name == input.name && own.dimensions.size() == input.dimensions.size()) input.dimensions = own.dimensions;
    }
  }
  return batch_axes(load, inputs);
}

using NameOf = OrtStatus*(ORT_API_CALL*)(const OrtSession*, std::size_t, OrtAllocator*, char**);
using TypeOf = OrtStatus*(ORT_API_CALL*)(const OrtSession*, std::size_t, OrtTypeInfo**);

struct Source {
  const OrtApi& api;
  const OrtSession* session;
  OrtAllocator* allocator;
  NameOf name_of;
  TypeOf type_of;
  const char* word;

  [[nodiscard]] PortFields read(std::size_t index) const {
    Reader reader{api, std::string(word) + " " + std::to_string(index), word == std::string_view("output")};
    char* name = nullptr;
    reader.must(name_of(session, index, allocator, &name));
    PortFields port{.name = name, .shape = {}, .dimension_names = {}};
    reader.must(api.AllocatorFree(allocator, name));
    reader.where = std::string(word) + " '" + port.name + "'";
    OrtTypeInfo* type = nullptr;
    reader.must(type_of(session, index, &type));
    const auto owner = owned(type, api.ReleaseTypeInfo);
    reader.read_type(type, port);
    return port;
  }
};

}  // namespace

Ports read_inputs(const OrtApi& api, const OrtSession* session, OrtAllocator* allocator, const imb_load& load,
                  const OnnxDeclaration& declaration) {
  const Source source{api, session, allocator, api.SessionGetInputName, api.SessionGetInputTypeInfo, "input"};
  std::size_t count = 0;
  check(api, api.SessionGetInputCount(session, &count), IMB_MODEL_ERROR, "ONNX Runtime did not count the inputs");
  std::vector<PortFields> inputs;
  std::vector<DeclaredInput> declarations;
  for (std::size_t i = 0; i < count; ++i) declarations.push_back(declared(inputs.emplace_back(source.read(i))));
  const auto axes = axes_of(load, declarations, declaration);
  Ports ports;
  for (std::size_t i = 0; i < count; ++i) {
    fix_dimensions(inputs[i], load, axes[i]);
    ports.push_back(std::make_unique<Port>(std::move(inputs[i])));
  }
  return ports;
}

Ports read_outputs(const OrtApi& api, const OrtSession* session, OrtAllocator* allocator) {
  const Source source{api, session, allocator, api.SessionGetOutputName, api.SessionGetOutputTypeInfo, "output"};
  std::size_t count = 0;
  check(api, api.SessionGetOutputCount(session, &count), IMB_MODEL_ERROR, "ONNX Runtime did not count the outputs");
  Ports ports;
  for (std::size_t i = 0; i < count; ++i) ports.push_back(std::make_unique<Port>(source.read(i)));
  return ports;
}

}  // namespace infermeter
