#include "ports.hpp"

#include <algorithm>
#include <ranges>

#include "sdk/dimensions.hpp"
#include "values.hpp"

namespace infermeter {
namespace {

constexpr const char* batch = "batch";

std::string name_of_input(std::size_t index, std::size_t count) {
  return count == 1 ? "input" : "input." + std::to_string(index);
}

Input input_of(std::string name, imb_dtype dtype) {
  if (!scalar_type_from(dtype)) {
    fail(IMB_UNSUPPORTED, "input '" + name + "' has elements of type " + std::string(infermeter::name_of(dtype)) +
                              ", which the libtorch back end cannot give");
  }
  return {.port = {.name = std::move(name), .dtype = dtype, .shape = {}, .dimension_names = {}}, .compiled = {}};
}

void add_dimension(Input& input, std::optional<std::int64_t> size) {
  const std::size_t axis = input.port.shape.size();
  input.port.shape.push_back(size.value_or(-1));
  input.port.dimension_names.push_back(size ? "" : axis == 0 ? batch : place_of(input.port.name, axis));
}

// The first dimension is the batch, unless the user says otherwise.
Input input_from(std::string name, const InputShape& shape) {
  Input input = input_of(std::move(name), shape.dtype);
  add_dimension(input, std::nullopt);
  for (const std::int64_t size : std::span(shape.sizes).subspan(1)) add_dimension(input, size);
  input.written = shape.sizes;
  return input;
}

// Beside other dynamic dimensions nobody knows that the first one is the batch.
void name_by_place(std::vector<Input>& inputs) {
  const bool only_first = std::ranges::all_of(inputs, [](const Input& input) {
    return std::ranges::find(input.port.shape | std::views::drop(1), -1) == input.port.shape.end();
  });
  for (Input& input : inputs) {
    if (!only_first && !input.port.shape.empty() && input.port.shape.front() < 0)
      input.port.dimension_names.front() = place_of(input.port.name, 0);
  }
}

// Of the size at the batch axis, input_shape says 1 or what the batch size says.
void check_written(const Input& input, std::size_t axis, std::int64_t size) {
  if (axis >= input.written.size() || size < 1 || input.written[axis] == 1 || input.written[axis] == size) return;
  const std::string items = std::to_string(input.written[axis]);
  fail(IMB_INVALID_ARGUMENT, "input_shape gives input '" + input.port.name + "' " + items + " items (its dimension " +
                                 std::to_string(axis) + " is the batch), and the batch size is " +
                                 std::to_string(size) + ": give --batch-sizes " + items +
                                 ", or 1 there, or --batch-axis " + input.port.name + "=none if it is not the batch");
}

// Tensors are given row by row. Code that was compiled for another layout would read them wrongly.
void check_layout(const CompiledInput& compiled, const std::string& name) {
  std::optional<std::int64_t> wanted = 1;
  for (std::size_t axis = compiled.dimensions.size(); axis-- > 0 && wanted;) {
    const CompiledDimension& dimension = compiled.dimensions[axis];
    if (dimension.stride && *dimension.stride != *wanted && dimension.size != 1) {
      fail(IMB_UNSUPPORTED, "the package was compiled for an input '" + name + "' that does not lie in memory row by " +
                                "row (for example, channels_last); compile it with a contiguous example");
    }
    wanted = dimension.size ? std::optional(*wanted * *dimension.size) : std::nullopt;
  }
}

Input input_from(std::string name, const CompiledInput& compiled) {
  Input input = input_of(std::move(name), compiled.dtype);
  for (const CompiledDimension& dimension : compiled.dimensions) add_dimension(input, dimension.size);
  check_layout(compiled, input.port.name);
  input.compiled = compiled.dimensions;
  return input;
}

// The option beside what the package says: it may give dynamic dimensions a size, and must not say anything else.
void put_in(Input& input, const InputShape& shape) {
  PortFields& port = input.port;
  bool fits = port.shape.size() == shape.sizes.size() && port.dtype == shape.dtype;
  for (std::size_t axis = 0; fits && axis < port.shape.size(); ++axis) {
    fits = port.shape[axis] < 0 || axis == 0 || port.shape[axis] == shape.sizes[axis];
    if (axis > 0 && port.shape[axis] < 0) port.shape[axis] = shape.sizes[axis];
  }
  input.written = shape.sizes;
  if (fits) return;
  fail(IMB_INVALID_ARGUMENT, "the package was compiled for an input '" + port.name + "' of shape " +
                                 shape_text(port.shape) + ":" + std::string(infermeter::name_of(port.dtype)) +
                                 ", and input_shape gives " + shape_text(shape.sizes) + ":" +
                                 std::string(infermeter::name_of(shape.dtype)) + "; leave input_shape out");
}

std::string list_of(std::span<const std::string> names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::vector<DeclaredInput> declared(const std::vector<Input>& inputs) {
  std::vector<DeclaredInput> list;
  for (const Input& input : inputs) list.push_back(declared(input.port));
  return list;
}

}  // namespace

std::vector<Input> inputs_of_script(std::span<const std::string> names, std::span<const InputShape> shapes) {
  if (shapes.empty() && !names.empty()) {
    fail(IMB_INVALID_ARGUMENT,
         "a TorchScript file does not declare the shapes of its inputs (here: " + list_of(names) +
             "); give, for example, input_shape=1x3x224x224, of several separated by ';' (--option), or "
             "data that have a shape (--data)");
  }
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) inputs.push_back(input_from(names[i], shapes[i]));
  return inputs;
}

std::vector<Input> inputs_of_package(const std::vector<CompiledInput>& compiled, std::span<const InputShape> shapes) {
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    inputs.push_back(input_from(name_of_input(i, compiled.size()), compiled[i]));
  }
  if (!compiled.empty() && !shapes.empty() && shapes.size() != compiled.size()) {
    fail(IMB_INVALID_ARGUMENT, "the package has " + std::to_string(compiled.size()) +
                                   " inputs, and input_shape gives " + std::to_string(shapes.size()) +
                                   "; leave it out");
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (compiled.empty()) {
      inputs.push_back(input_from(name_of_input(i, shapes.size()), shapes[i]));
    } else {
      put_in(inputs[i], shapes[i]);
    }
  }
  if (!compiled.empty()) name_by_place(inputs);
  return inputs;
}

void fix_dimensions(std::vector<Input>& inputs, const imb_load& load) {
  const std::vector<DeclaredInput> declarations = declared(inputs);
  check_dimensions(load, declarations);
  const auto axes = batch_axes(load, declarations);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Input& input = inputs[i];
    PortFields& port = input.port;
    if (axes[i] >= 0) check_written(input, static_cast<std::size_t>(axes[i]), load.batch);
    for (std::size_t axis = 0; axis < input.written.size() && input.compiled.empty(); ++axis) {
      const bool is_batch = static_cast<std::int64_t>(axis) == axes[i];
      if (is_batch || port.shape[axis] < 0) port.shape[axis] = is_batch ? -1 : input.written[axis];
    }
    fix_dimensions(port, load, axes[i]);
    check_compiled(input, port.shape);
  }
}

void check_compiled(const Input& input, std::span<const std::int64_t> shape) {
  for (std::size_t axis = 0; axis < input.compiled.size(); ++axis) {
    const CompiledDimension& dimension = input.compiled[axis];
    const std::int64_t size = shape[axis];
    if (size < 0 || dimension.size || (size >= dimension.lowest && size <= dimension.highest)) continue;
    const std::string most = dimension.highest == INT64_MAX ? " or more" : " to " + std::to_string(dimension.highest);
    fail(IMB_INVALID_ARGUMENT, "the package was compiled for sizes of " + std::to_string(dimension.lowest) + most +
                                   " in dimension " + std::to_string(axis) + " of input '" + input.port.name +
                                   "' and not for " + std::to_string(size) +
                                   "; compile it with an example of that size, or for a wider range");
  }
}

Ports ports_before_run(std::span<const std::string> names) {
  Ports ports;
  for (const std::string& name : names) {
    ports.push_back(
        std::make_unique<Port>(PortFields{.name = name, .rank_known = false, .shape = {}, .dimension_names = {}}));
  }
  return ports;
}

Ports ports_after_run(std::span<const NamedTensor> outputs, bool dynamic_batch) {
  Ports ports;
  for (const auto& [name, tensor] : outputs) {
    PortFields port{.name = name, .rank_known = tensor.defined(), .shape = {}, .dimension_names = {}};
    if (tensor.defined()) {
      port.dtype = dtype_from(tensor.scalar_type()).value_or(IMB_UNDEFINED);
      port.shape = tensor.sizes().vec();
      port.dimension_names.resize(port.shape.size());
      if (dynamic_batch && !port.shape.empty()) {
        port.shape[0] = -1;
        port.dimension_names[0] = batch;
      }
    }
    ports.push_back(std::make_unique<Port>(std::move(port)));
  }
  return ports;
}

}  // namespace infermeter
