#include "infermeter/data/batch_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "infermeter/data/port_fit.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

struct NamedAxis {
  std::size_t input = 0, axis = 0;
  std::string name;
};

std::string in_lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_word_for_batch(const std::string& name) { return in_lower_case(name).find("batch") != std::string::npos; }

bool is_letter_for_batch(const std::string& name) {
  const std::string lower = in_lower_case(name);
  return lower == "n" || lower == "b" || lower == "bs";
}

// Names that exporters make up say nothing: tf2onnx's unk__12, torch.export's s0, torch.onnx's x_dynamic_axes_1,
// Paddle2ONNX's DynamicDimension.0 (with p2o. before it where nothing simplified the graph), and a dimension called by
// its place.
bool says_nothing(const Port& port, std::size_t axis) {
  const std::string& name = port.dimension_names[axis];
  if (name.empty() || name == "?" || name == fmt::format("{}.{}", port.name, axis)) return true;
  const std::string_view text = name;
  if (text.starts_with("unk__")) return all_digits(text.substr(5));
  if (text.starts_with('s')) return all_digits(text.substr(1));
  return std::ranges::any_of(
      std::array<std::string_view, 2>{"_dynamic_axes_", "DynamicDimension."}, [&](std::string_view word) {
        const auto made_up = text.find(word);
        return made_up != std::string_view::npos && all_digits(text.substr(made_up + word.size()));
      });
}

Result<std::optional<std::int64_t>> axis_from(const Port& port, const std::string& text) {
  if (text == kNoBatchAxis) return std::optional<std::int64_t>();
  std::int64_t axis = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), axis);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && axis >= 0;
  if (!is_number) {
    return usage_error(
        fmt::format("--batch-axis {}={}: expected a dimension, counted from 0, or none", port.name, in_quotes(text)));
  }
  if (port.kind != Value::Kind::tensor || (port.rank_known && axis >= static_cast<std::int64_t>(port.shape.size()))) {
    return usage_error(fmt::format("--batch-axis {}={}: input {} is {} and has no dimension {}", port.name, axis,
                                   in_quotes(port.name), describe(port), axis));
  }
  return std::optional(axis);
}

class Decision {
 public:
  Decision(std::span<const Port> inputs, const AskedAxes& asked)
      : inputs_(inputs), asked_(asked), axes_(inputs.size()), is_open_(inputs.size(), true) {}

  Result<BatchAxes> operator()() {
    INFERMETER_TRY_DONE(take_asked());
    INFERMETER_TRY(const bool by_word, by_name(is_word_for_batch, false));
    if (by_word) return std::move(axes_);
    INFERMETER_TRY(const bool by_letter, by_name(is_letter_for_batch, true));
    if (!by_letter) by_place();
    return std::move(axes_);
  }

 private:
  Result<Done> take_asked() {
    for (const auto& [name, text] : asked_) {
      if (!name.empty()) continue;
      if (text != kNoBatchAxis) {
        return usage_error(fmt::format("--batch-axis {}: say of which input: --batch-axis {}={}", text,
                                       inputs_.empty() ? "INPUT" : inputs_.front().name, text));
      }
      is_open_.assign(is_open_.size(), false);
    }
    for (const auto& [name, text] : asked_) {
      if (name.empty()) continue;
      const auto found = std::ranges::find(inputs_, name, &Port::name);
      if (found == inputs_.end()) return unknown_input(name);
      const auto index = static_cast<std::size_t>(found - inputs_.begin());
      INFERMETER_TRY(axes_[index], axis_from(*found, text));
      is_open_[index] = false;
    }
    return Done{};
  }

  Error unknown_input(const std::string& name) const {
    std::string known;
    for (const Port& port : inputs_) known += (known.empty() ? "" : ", ") + in_quotes(port.name);
    return usage_error(fmt::format("--batch-axis names input {}; the model's inputs are {}", in_quotes(name),
                                   known.empty() ? "none" : known));
  }

  // Dimensions with a name that `means_batch`, of the inputs that nobody has decided on.
  template <class MeansBatch>
  [[nodiscard]] std::vector<NamedAxis> named(const MeansBatch& means_batch, bool first_only) const {
    std::vector<NamedAxis> found;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Port& port = inputs_[i];
      const std::size_t rank = std::min(port.shape.size(), port.dimension_names.size());
      for (std::size_t axis = 0; is_open_[i] && axis < (first_only ? std::min<std::size_t>(rank, 1) : rank); ++axis) {
        if (means_batch(port.dimension_names[axis])) found.push_back({i, axis, port.dimension_names[axis]});
      }
    }
    return found;
  }

  // Whether the names decide.
  template <class MeansBatch>
  Result<bool> by_name(const MeansBatch& means_batch, bool first_only) {
    const std::vector<NamedAxis> found = named(means_batch, first_only);
    if (found.empty()) return false;
    const auto other = std::ranges::find_if(found, [&](const NamedAxis& one) {
      return one.name != found.front().name || (&one != &found.front() && one.input == found.front().input);
    });
    if (other != found.end()) return unclear(found.front(), *other);
    if (first_only && occurs_behind_the_first(found.front().name)) return false;
    for (const NamedAxis& one : found) axes_[one.input] = static_cast<std::int64_t>(one.axis);
    return true;
  }

  [[nodiscard]] Error unclear(const NamedAxis& one, const NamedAxis& other) const {
    const std::string &input = inputs_[one.input].name, &second = inputs_[other.input].name;
    return usage_error(fmt::format(
        "dimension {} of input {} is called {} and dimension {} of input {} {}: say which is the batch with "
        "--batch-axis {}={}, or with --batch-axis {}=none that there is none",
        one.axis, in_quotes(input), in_quotes(one.name), other.axis, in_quotes(second), in_quotes(other.name), input,
        one.axis, second));
  }

  [[nodiscard]] bool occurs_behind_the_first(const std::string& name) const {
    return std::ranges::any_of(inputs_, [&](const Port& port) {
      return std::find(port.dimension_names.begin() + (port.dimension_names.empty() ? 0 : 1),
                       port.dimension_names.end(), name) != port.dimension_names.end();
    });
  }

  void by_place() {
    std::vector<std::size_t> first;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Port& port = inputs_[i];
      for (std::size_t axis = 0; axis < std::min(port.shape.size(), port.dimension_names.size()); ++axis) {
        if (port.shape[axis] >= 0 || !says_nothing(port, axis)) continue;
        if (axis > 0) return;
        if (is_open_[i]) first.push_back(i);
      }
    }
    for (const std::size_t input : first) axes_[input] = 0;
  }

  std::span<const Port> inputs_;
  const AskedAxes& asked_;
  BatchAxes axes_;
  std::vector<bool> is_open_;
};

// The first dimension that can have this size. Empty: none can, so that no --batch-axis would help.
std::string axis_advice(std::span<const Port> inputs, std::int64_t batch_size) {
  for (const Port& input : inputs) {
    const auto fits = [&](std::int64_t size) { return size < 0 || size == batch_size; };
    const auto axis = std::ranges::find_if(input.shape, fits);
    if (axis == input.shape.end()) continue;
    return fmt::format(", or name the dimension that is the batch: --batch-axis {}={}", input.name,
                       axis - input.shape.begin());
  }
  return {};
}

}  // namespace

Result<BatchAxes> batch_axes(std::span<const Port> declared, const AskedAxes& asked) {
  return Decision(declared, asked)();
}

Result<Done> mark_batch_axes(std::vector<Port>& declared, const AskedAxes& asked) {
  INFERMETER_TRY(const BatchAxes axes, batch_axes(declared, asked));
  for (std::size_t i = 0; i < declared.size(); ++i) declared[i].batch_axis = axes[i];
  return Done{};
}

Result<std::int64_t> items_per_inference(std::span<const Port> inputs, std::int64_t batch_size) {
  if (inputs.empty()) return batch_size;
  bool has_batch = false;
  for (const Port& input : inputs) {
    if (!input.batch_axis) continue;
    has_batch = true;
    const auto axis = static_cast<std::size_t>(*input.batch_axis);
    if (axis >= input.shape.size()) continue;
    const std::int64_t size = input.shape[axis];
    if (size < 0 || size == batch_size) continue;
    const std::string advice = batch_size_advice(size);
    return usage_error(
        fmt::format("input {} is {}, so an inference has {} items (dimension {} is the batch) and not {}: {} "
                    "--batch-axis {}=none if that dimension is not the batch",
                    in_quotes(input.name), describe(input), size, axis, batch_size,
                    advice.empty() ? "give" : advice + ", or", input.name));
  }
  if (has_batch) return batch_size;
  if (batch_size == 1) return 1;
  return usage_error(fmt::format(
      "the batch size is {} and no input has a batch axis (input {} is {}): leave "
      "--batch-sizes out{}",
      batch_size, in_quotes(inputs.front().name), describe(inputs.front()), axis_advice(inputs, batch_size)));
}

Result<Done> check_items(std::span<const Port> inputs, std::span<const ItemValues> items, std::int64_t batch_size) {
  for (const ItemValues& item : items) {
    for (std::size_t i = 0; i < std::min(inputs.size(), item.size()); ++i) {
      const Shape& shape = item[i].tensor.shape;
      const auto axis = static_cast<std::size_t>(inputs[i].batch_axis.value_or(0));
      if (!inputs[i].batch_axis || item[i].kind != Value::Kind::tensor) continue;
      if (axis < shape.size() && shape[axis] == batch_size) continue;
      const std::string advice = batch_size_advice(axis < shape.size() ? shape[axis] : 1);
      return usage_error(
          fmt::format("the data have {} for input {}, whose dimension {} is the batch, and the batch size is {}: {}",
                      describe(item[i].tensor), in_quotes(inputs[i].name), axis, batch_size,
                      advice.empty() ? "give other data" : advice));
    }
  }
  return Done{};
}

std::optional<std::int64_t> output_batch_axis(std::span<const Port> inputs, const Port& output,
                                              std::span<const std::int64_t> shape, std::int64_t items) {
  const auto fits = [&](std::int64_t axis) {
    return axis < static_cast<std::int64_t>(shape.size()) && shape[static_cast<std::size_t>(axis)] == items;
  };
  for (const Port& input : inputs) {
    if (!input.batch_axis || static_cast<std::size_t>(*input.batch_axis) >= input.dimension_names.size()) continue;
    const std::string& name = input.dimension_names[static_cast<std::size_t>(*input.batch_axis)];
    const auto found = std::ranges::find(output.dimension_names, name);
    const std::int64_t axis = found - output.dimension_names.begin();
    if (!name.empty() && found != output.dimension_names.end() && fits(axis)) return axis;
  }
  for (const Port& input : inputs) {
    if (input.batch_axis && fits(*input.batch_axis)) return input.batch_axis;
  }
  return std::nullopt;
}

std::string batch_axes_text(std::span<const Port> inputs) {
  std::string text;
  bool has_batch = false;
  for (const Port& input : inputs) {
    has_batch = has_batch || input.batch_axis.has_value();
    const std::string axis = input.batch_axis ? fmt::format("{}", *input.batch_axis) : kNoBatchAxis;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", input.name, axis);
  }
  return has_batch ? text : kNoBatchAxis;
}

}  // namespace infermeter
