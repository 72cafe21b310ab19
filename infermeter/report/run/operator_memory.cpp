#include "infermeter/report/run/operator_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

std::uint64_t bytes_held(const ProfiledOperator& op) {
  return op.activation_bytes.value_or(0) + op.parameter_bytes.value_or(0) + op.output_bytes.value_or(0);
}

bool has_memory(const ProfiledOperator& op) {
  return op.activation_bytes || op.parameter_bytes || op.output_bytes || op.arena_peak_bytes || op.arena_in_use_bytes;
}

std::vector<std::size_t> by_memory(const OperatorProfile& profile) {
  std::vector<std::size_t> order;
  for (std::size_t op = 0; op < profile.operators.size(); ++op) {
    if (has_memory(profile.operators[op])) order.push_back(op);
  }
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t op) { return bytes_held(profile.operators[op]); });
  return order;
}

Cell operator_bytes_cell(const std::optional<std::uint64_t>& bytes) {
  return {bytes ? format_bytes(static_cast<double>(*bytes)) : "", Tone::plain};
}

}  // namespace

Grid memory_grid(const OperatorProfile& profile, std::size_t most, std::size_t longest_name) {
  Grid grid{.columns = {{"Operator", Align::left},
                        {"Kind", Align::left},
                        {"Together", Align::right},
                        {"Inputs", Align::right},
                        {"Parameters", Align::right},
                        {"Outputs", Align::right},
                        {"Arena, in use", Align::right, true},
                        {"Arena, peak", Align::right, true}},
            .rows = {}};
  for (const std::size_t index : by_memory(profile)) {
    if (grid.rows.size() == most) break;
    const ProfiledOperator& op = profile.operators[index];
    grid.rows.push_back({{op.name.empty() ? "(no name)" : printable(op.name, longest_name), Tone::plain},
                         {printable(op.kind, 40), Tone::plain},
                         operator_bytes_cell(bytes_held(op)),
                         operator_bytes_cell(op.activation_bytes),
                         operator_bytes_cell(op.parameter_bytes),
                         operator_bytes_cell(op.output_bytes),
                         operator_bytes_cell(op.arena_in_use_bytes),
                         operator_bytes_cell(op.arena_peak_bytes)});
  }
  return grid;
}

}  // namespace infermeter
