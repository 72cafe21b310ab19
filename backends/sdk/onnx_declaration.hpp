// What an ONNX file says before it is loaded: runtimes want the names of dynamic dimensions before they tell them, or
// never tell them. Skims the file's top levels without recursion; tensors' bytes are stepped over, never read.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter_backend.h"

namespace infermeter {

struct DeclaredDimension {
  std::int64_t value = -1;  // -1: dynamic
  std::string name;         // "" if it has none
};

struct DeclaredInput {
  std::string name;
  std::vector<DeclaredDimension> dimensions;
  imb_kind kind = IMB_TENSOR;
  bool rank_known = true;
};

struct OnnxDeclaration {
  bool readable = false;              // false: not ONNX, or cut; the runtime will say what is wrong with it
  std::vector<DeclaredInput> inputs;  // without those that are initialisers too
  std::vector<std::string> outputs;
  std::set<int> weight_types;  // element types of the initialisers, as ONNX numbers them
};

namespace onnx_file {

// Field numbers of onnx.proto.
namespace model {
inline constexpr std::uint64_t graph = 7;
}
namespace graph {
inline constexpr std::uint64_t initializer = 5, input = 11, output = 12;
}
namespace tensor {
inline constexpr std::uint64_t data_type = 2, name = 8;
}

inline constexpr std::size_t most_dimensions = 64, most_ports = 4096;

struct Field {
  std::uint64_t number = 0;
  std::uint64_t varint = 0;
  std::string_view bytes;
};

// Protocol buffers' wire format: https://protobuf.dev/programming-guides/encoding/
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  // None at the end, or where the bytes make no sense (`broken` then).
  std::optional<Field> next() {
    if (rest_.empty()) return std::nullopt;
    Field field;
    const std::uint64_t tag = varint();
    field.number = tag >> 3;
    switch (tag & 7) {
      case 0: field.varint = varint(); break;
      case 1: take(8); break;
      case 2: field.bytes = take(varint()); break;
      case 5: take(4); break;
      default: broken_ = true;
    }
    if (broken_) return std::nullopt;
    return field;
  }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    broken_ = true;
    return 0;
  }

  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) {
      broken_ = true;
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool broken_ = false;
};

// The last field of that number, as protocol buffers have it.
inline std::string_view bytes_in(std::string_view message, std::uint64_t number) {
  std::string_view found;
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == number) found = field->bytes;
  }
  return found;
}

inline DeclaredDimension dimension_from(std::string_view message) {
  DeclaredDimension dimension;
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == 1) dimension = {static_cast<std::int64_t>(field->varint), ""};
    if (field->number == 2) dimension = {-1, std::string(field->bytes)};
  }
  return dimension;
}

// ValueInfoProto.type(2).tensor_type(1).shape(2).dim(1)
inline std::vector<DeclaredDimension> dimensions_of(std::string_view value_info) {
  std::vector<DeclaredDimension> dimensions;
  Fields fields(bytes_in(bytes_in(bytes_in(value_info, 2), 1), 2));
  while (const auto field = fields.next()) {
    if (field->number == 1 && dimensions.size() < most_dimensions) dimensions.push_back(dimension_from(field->bytes));
  }
  return dimensions;
}

// Notes the element type; returns the name.
inline std::string_view note_weight(std::string_view message, OnnxDeclaration& declaration) {
  std::string_view name;
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == tensor::name) name = field->bytes;
    if (field->number == tensor::data_type && field->varint < 64) {
      declaration.weight_types.insert(static_cast<int>(field->varint));
    }
  }
  return name;
}

inline bool read_graph(std::string_view message, OnnxDeclaration& declaration) {
  std::set<std::string_view> initializers;
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == graph::initializer) initializers.insert(note_weight(field->bytes, declaration));
    if (field->number == graph::input && declaration.inputs.size() < most_ports) {
      declaration.inputs.push_back({std::string(bytes_in(field->bytes, 1)), dimensions_of(field->bytes)});
      declaration.inputs.back().rank_known = !declaration.inputs.back().dimensions.empty();
    }
    if (field->number == graph::output && declaration.outputs.size() < most_ports) {
      declaration.outputs.emplace_back(bytes_in(field->bytes, 1));
    }
  }
  std::erase_if(declaration.inputs, [&](const DeclaredInput& input) { return initializers.contains(input.name); });
  return !fields.broken();
}

inline OnnxDeclaration read_model(std::string_view bytes) {
  OnnxDeclaration declaration;
  Fields fields(bytes);
  while (const auto field = fields.next()) {
    if (field->number == model::graph) declaration.readable = read_graph(field->bytes, declaration);
  }
  if (fields.broken()) declaration.readable = false;
  return declaration;
}

}  // namespace onnx_file

inline OnnxDeclaration read_onnx_declaration(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {};
  struct stat status{};
  OnnxDeclaration declaration;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) {
      declaration = onnx_file::read_model({static_cast<const char*>(mapped), size});
      munmap(mapped, size);
    }
  }
  close(file);
  return declaration;
}

}  // namespace infermeter
