#include "infermeter/report/profile/stack_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/profile/write/frame_text.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

constexpr std::size_t longest_function = 60;
constexpr std::size_t longest_module = 32;
constexpr std::size_t longest_stack_kind = 24;

std::string stack_percent(double share) { return fmt::format("{:.1f} %", share * 100); }

// "Conv (53), Gemm", largest first; of one operator its name.
std::string places_text(const StackFunction& function, const OperatorProfile* operators) {
  std::string text;
  for (const StackPlace& place : function.places) {
    if (!text.empty()) text += ", ";
    if (place.kind.empty()) {
      text += "(outside operators)";
      continue;
    }
    text += printable(place.kind, longest_stack_kind);
    if (place.operators > 1) text += fmt::format(" ({})", place.operators);
    if (place.op && operators != nullptr && *place.op < operators->operators.size()) {
      text += ' ' + printable(operators->operators[*place.op].name, longest_stack_kind);
    }
  }
  return text;
}

Cell function_time_cell(const StackTree& tree, const StackFunction& function) {
  if (tree.distorted) return {"–", Tone::faint};
  std::optional<Interval> interval;
  if (function.low_s && function.high_s) {
    interval = Interval{.low = *function.low_s, .high = *function.high_s, .confidence = 0.95};
  }
  return {with_interval(function.self_s, interval, format_time), Tone::plain};
}

Grid hottest(const StackTree& tree, const OperatorProfile* operators, std::size_t most) {
  Grid grid{.columns = {{"Function", Align::left},
                        {"Own %", Align::right},
                        {"Own time", Align::left},
                        {"Module", Align::left, true},
                        {"In operators", Align::left, true}},
            .rows = {}};
  if (tree.tagged_share <= 0) grid.columns.pop_back();
  for (const StackFunction& function : tree.functions) {
    if (grid.rows.size() == most || function.self_s <= 0) break;
    std::vector<Cell> row{Cell{printable(frame_text(function.frame), longest_function), Tone::plain},
                          Cell{stack_percent(function.share), Tone::plain}, function_time_cell(tree, function),
                          Cell{printable(function.frame.module, longest_module), Tone::plain},
                          Cell{places_text(function, operators), Tone::plain}};
    row.resize(grid.columns.size());
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

std::string stack_title(const RunRecord& record, const SubjectProfile& profile, const StackTree& tree) {
  return fmt::format("{}: {} stacks ({}), {} of {}: functions by their own time",
                     printable(label_alone(record, profile.subject), 120), tree.is_python ? "Python" : "call",
                     stack_method_name(tree.method),
                     counted(static_cast<std::int64_t>(tree.samples), "sample", "samples"),
                     counted(static_cast<std::int64_t>(tree.processes), "process", "processes"));
}

std::vector<std::string> stack_lines(const StackTree& tree) {
  std::vector<std::string> lines;
  std::string shares;
  if (tree.tagged_share > 0) shares = fmt::format("{} are in an operator", stack_percent(tree.tagged_share));
  if (tree.unnamed_share > 0) {
    shares += fmt::format("{}{} in code without a name", shares.empty() ? "" : ", ", stack_percent(tree.unnamed_share));
  }
  if (!shares.empty()) lines.push_back("samples: " + shares);
  if (!tree.detail.empty()) lines.push_back(printable(tree.detail, 300));
  if (tree.distorted) {
    lines.push_back(fmt::format("p50 {} while it is looked at, {} otherwise: read shares and not times",
                                format_time(*tree.profiled_p50_s), format_time(*tree.clean_p50_s)));
  }
  if (tree.left_out > 0) {
    lines.push_back(fmt::format("{} had no samples or other operators and are left out",
                                counted(static_cast<std::int64_t>(tree.left_out), "process", "processes")));
  }
  return lines;
}

}  // namespace

std::string stack_method_name(const std::string& method) {
  return method == "py_spy" ? "py-spy" : method == "cprofile" ? "cProfile" : printable(method, 40);
}

std::vector<OperatorText> stack_texts(const RunRecord& record, const ProfileFindings& findings,
                                      std::size_t most_functions) {
  std::vector<OperatorText> texts;
  for (const SubjectProfile& profile : findings.subjects) {
    for (const StackTree& tree : profile.stacks) {
      texts.push_back({.title = stack_title(record, profile, tree),
                       .grid = hottest(tree, profile.table.profile, most_functions),
                       .lines = stack_lines(tree)});
    }
  }
  return texts;
}

}  // namespace infermeter
