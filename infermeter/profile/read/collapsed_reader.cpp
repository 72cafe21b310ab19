#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "infermeter/profile/read/stack_readers.hpp"
#include "infermeter/profile/stacks/stack_table.hpp"

namespace infermeter {
namespace {

std::optional<double> weight_of(std::string_view text) {
  double weight = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight, std::chars_format::fixed);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(weight) || weight < 0) return std::nullopt;
  return weight;
}

Error line_error(std::size_t number, std::string_view what) {
  return io_error(fmt::format("line {} of the collapsed stacks {}", number, what));
}

Result<StackSample> parse_line(StackTable& table, std::string_view line, std::size_t number) {
  const std::size_t space = line.find_last_of(" \t");
  const auto weight = space == std::string_view::npos ? std::nullopt : weight_of(line.substr(space + 1));
  if (!weight) return line_error(number, "does not end with a weight, as in 'main;work 12'");
  std::string_view stack = line.substr(0, space);
  if (static_cast<std::size_t>(std::ranges::count(stack, ';')) >= kDeepestStack) {
    return line_error(number, fmt::format("has more than {} frames", kDeepestStack));
  }
  StackSample sample{.frames = {}, .weight = *weight};
  for (bool more = true; more;) {
    const std::size_t end = stack.find(';');
    more = end != std::string_view::npos;
    INFERMETER_TRY(const std::uint32_t frame, table.frame(stack.substr(0, end), "", 0));
    sample.frames.push_back(frame);
    stack.remove_prefix(more ? end + 1 : stack.size());
  }
  return sample;
}

bool is_empty(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

}  // namespace

bool is_collapsed_stacks(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = take_line(text).text;
    if (is_empty(line)) continue;
    const std::size_t space = line.find_last_of(" \t");
    // A stack's beginning, which JSON and what perf prints have not: they are indented, or end otherwise.
    return space != std::string_view::npos && space > 0 && line.front() != ' ' && line.front() != '\t' &&
           weight_of(line.substr(space + 1)).has_value();
  }
  return false;
}

Result<StackProfile> parse_collapsed_stacks(std::string_view text) {
  StackTable table;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const TextLine line = take_line(text);
    if (is_empty(line.text)) continue;
    if (!line.complete) {
      // Where a weight is cut it is another weight: nobody can see it.
      table.profile().cut = true;
      break;
    }
    INFERMETER_TRY(StackSample sample, parse_line(table, line.text, number));
    if (!table.add(std::move(sample))) break;
  }
  if (table.profile().samples.empty()) return io_error("the collapsed stacks contain no whole line");
  return table.take();
}

}  // namespace infermeter
