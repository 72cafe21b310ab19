#include "package_text.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "sdk/elements.hpp"

namespace infermeter {
namespace {

constexpr std::size_t most_inputs = 4096, most_dimensions = 64;

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

// The whole number behind `before`.
std::optional<std::int64_t> number_after(std::string_view line, std::string_view before) {
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = line.substr(at + before.size());
  std::int64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return read.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

CompiledDimension* dimension_at(CompiledInput& input, std::optional<std::int64_t> index) {
  if (!index || *index < 0 || *index >= static_cast<std::int64_t>(most_dimensions)) return nullptr;
  const auto place = static_cast<std::size_t>(*index);
  if (input.dimensions.size() <= place) input.dimensions.resize(place + 1);
  return &input.dimensions[place];
}

// if (3 != arg0_1_size[1]) {     if (arg0_1_size[0] < 2) {     if (arg0_1_size[0] > 64) {     if (768 !=
// arg0_1_stride[0]) {
void read_condition(std::string_view line, CompiledInput& input) {
  if (auto* dimension = dimension_at(input, number_after(line, "_size["))) {
    if (const auto size = number_after(line, "if (")) dimension->size = *size;
    if (const auto lowest = number_after(line, "] < ")) dimension->lowest = *lowest;
    if (const auto highest = number_after(line, "] > ")) dimension->highest = *highest;
  } else if (auto* strided = dimension_at(input, number_after(line, "_stride["))) {
    strided->stride = number_after(line, "if (");
  }
}

// int32_t arg0_1_expected_dtype = aoti_torch_dtype_float32();
void read_dtype(std::string_view line, CompiledInput& input) {
  constexpr std::string_view before = "_expected_dtype = aoti_torch_dtype_";
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return;
  const std::string_view name = line.substr(at + before.size(), line.find('(', at) - at - before.size());
  for (const ElementType& type : element_types) {
    if (type.name == name) input.dtype = type.dtype;
  }
}

bool are_whole(const std::vector<CompiledInput>& inputs) {
  for (const CompiledInput& input : inputs) {
    if (input.dtype == IMB_UNDEFINED) return false;
  }
  return true;
}

}  // namespace

std::vector<CompiledInput> compiled_inputs(std::string_view text) {
  std::vector<CompiledInput> inputs;
  bool inside = false;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.find("static void check_input_") != std::string_view::npos) {
      if (number_after(line, "check_input_") != static_cast<std::int64_t>(inputs.size())) return {};
      if (inputs.size() == most_inputs) return {};
      inputs.emplace_back();
      inside = true;
    } else if (line.starts_with("static bool _check_aoti")) {
      inside = false;
    } else if (inside && line.starts_with("if (")) {
      read_condition(line, inputs.back());
    } else if (inside) {
      read_dtype(line, inputs.back());
    }
  }
  return are_whole(inputs) ? inputs : std::vector<CompiledInput>();
}

std::optional<int> compiled_threads(std::string_view text) {
  const auto threads = number_after(text, "#pragma omp parallel num_threads(");
  return threads && *threads > 0 && *threads <= 4096 ? std::optional(static_cast<int>(*threads)) : std::nullopt;
}

std::size_t leaf_count(std::string_view call_spec) {
  constexpr std::string_view leaf = "{\"type\": null";
  std::size_t count = 0;
  for (std::size_t at = call_spec.find(leaf); at != std::string_view::npos; at = call_spec.find(leaf, at + 1)) ++count;
  return count;
}

}  // namespace infermeter
