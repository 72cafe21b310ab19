#include "infermeter/data/port_fit.hpp"

#include <fmt/format.h>

#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

Error dynamic_dimension(const Port& port, std::size_t index) {
  const std::string name = index < port.dimension_names.size() ? port.dimension_names[index] : "";
  const std::string batch =
      port.batch_axis ? std::string() : fmt::format(", or --batch-axis {}={} if it is the batch", port.name, index);
  if (name.empty()) {
    return usage_error(fmt::format(
        "input {} is {} and its dimension {} has neither a size nor a name; give tensors of that shape with "
        "--data FILE.npy, or its size with --dim {}.{}=VALUE{}",
        in_quotes(port.name), describe(port), index, port.name, index, batch));
  }
  return usage_error(fmt::format("input {} is {} and its dimension {} {} has no size; give it with --dim {}=VALUE{}",
                                 in_quotes(port.name), describe(port), index, in_quotes(name), name, batch));
}

std::string_view kind_name(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::none: return "nothing";
    case Value::Kind::tensor: return "a tensor";
    case Value::Kind::sequence: return "a sequence";
  }
  return "nothing";
}

Error misfit(const Port& port, const std::string& got, std::string_view file) {
  return usage_error(
      fmt::format("input {} needs {}, {} has {}", in_quotes(port.name), describe(port), in_quotes(file), got));
}

// Where only the batch is of another size.
std::string batch_hint(const Port& port, const Shape& shape) {
  const auto axis = static_cast<std::size_t>(port.batch_axis.value_or(0));
  if (!port.batch_axis || axis >= shape.size() || axis >= port.shape.size()) return {};
  Port other = port;
  other.shape[axis] = -1;
  const std::string advice = batch_size_advice(shape[axis]);
  return accepts_shape(other, shape) && !advice.empty() ? "; " + advice : std::string();
}

Result<Done> check_sequence(const Port& port, const Value& value, std::string_view file) {
  for (const Value& element : value.elements) {
    if (element.kind != Value::Kind::tensor || port.dtype == DType::undefined) continue;
    if (element.tensor.dtype != port.dtype) return misfit(port, "a sequence of " + describe(element.tensor), file);
  }
  return Done{};
}

}  // namespace

std::string most_data(const DataOptions& options) {
  constexpr std::string_view advice = "; use a smaller batch size, --dim or --data-limit";
  if (options.most_bytes >= kMostDataBytes) return fmt::format("{} GiB{}", kMostDataBytes >> 30U, advice);
  return fmt::format("{} MB, a third of the memory limit{}, or a larger --memory-limit", options.most_bytes / 1'000'000,
                     advice);
}

std::string batch_size_advice(std::int64_t size) {
  return size >= 1 && size <= kMostItems ? fmt::format("give --batch-sizes {}", size) : std::string();
}

std::string describe(const Port& port) {
  if (port.kind == Value::Kind::sequence) return fmt::format("a sequence of {}", to_string(port.dtype));
  if (port.kind == Value::Kind::none) return "nothing";
  return fmt::format("{} {}", to_string(port.dtype), port.rank_known ? to_string(port.shape) : "of any shape");
}

std::string describe(const Tensor& tensor) {
  return fmt::format("{} {}", to_string(tensor.dtype), to_string(tensor.shape));
}

Result<Shape> concrete_shape(const Port& port, std::int64_t batch_size) {
  if (!port.rank_known) {
    return usage_error(fmt::format("input {} declares no shape; give tensors of that shape with --data FILE.npy",
                                   in_quotes(port.name)));
  }
  Shape shape = port.shape;
  if (port.batch_axis && static_cast<std::size_t>(*port.batch_axis) < shape.size()) {
    std::int64_t& batch = shape[static_cast<std::size_t>(*port.batch_axis)];
    if (batch < 0) batch = batch_size;
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) return dynamic_dimension(port, i);
  }
  return shape;
}

Result<Done> check_first(const DataOptions& options, std::int64_t available) {
  if (options.first >= 0 && options.first < available) return Done{};
  return usage_error(fmt::format("{} has {} items, none of them from the {}th on", in_quotes(options.source), available,
                                 options.first + 1));
}

bool accepts_shape(const Port& port, std::span<const std::int64_t> shape) {
  if (!port.rank_known) return true;
  if (shape.size() != port.shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (port.shape[i] >= 0 && port.shape[i] != shape[i]) return false;
  }
  return true;
}

Result<Done> check_value(const Port& port, const Value& value, std::string_view file) {
  if (value.kind == Value::Kind::none && port.is_optional) return Done{};
  if (value.kind != port.kind) return misfit(port, std::string(kind_name(value.kind)), file);
  if (value.kind == Value::Kind::sequence) return check_sequence(port, value, file);
  const bool type_fits = port.dtype == DType::undefined || port.dtype == value.tensor.dtype;
  if (!type_fits || !accepts_shape(port, value.tensor.shape)) {
    const std::string hint = type_fits ? batch_hint(port, value.tensor.shape) : std::string();
    return misfit(port, describe(value.tensor) + hint, file);
  }
  return Done{};
}

}  // namespace infermeter
