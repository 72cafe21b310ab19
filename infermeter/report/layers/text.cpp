#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "infermeter/report/forms/grid.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/history/report.hpp"
#include "infermeter/report/layers/parts.hpp"
#include "infermeter/report/layers/report.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/numbers/sparkline.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/terminal.hpp"

namespace infermeter {
namespace {

constexpr std::size_t layers_narrowest = 60, layers_widest = 100;
constexpr std::size_t neighbours = 3;  // shown before and behind the jump
constexpr std::size_t worst_shown = 5;
constexpr std::size_t names_shown = 3;
constexpr double smallest_drawn = 1e-10;  // relative; nothing smaller shows anything

std::string layer_number(double value) { return std::isfinite(value) ? fmt::format("{:.2g}", value) : "not finite"; }
std::string layer_number(std::optional<double> value) { return value ? layer_number(*value) : "-"; }

std::string tensors(std::size_t count) { return counted(static_cast<std::int64_t>(count), "tensor", "tensors"); }

// "Conv, node 31" of a tensor that a node makes.
std::string maker(const LayerDifference& tensor) {
  if (tensor.op.empty()) return "an input";
  const bool is_named = !tensor.node.empty() && tensor.node != tensor.name;
  return fmt::format("{}{}, node {}", printable(tensor.op, 60),
                     is_named ? fmt::format(" \"{}\"", printable(tensor.node, 80)) : "", tensor.position);
}

// The end of a long name tells it from its neighbours.
std::string shortened(const std::string& name, std::size_t most) {
  const std::string shown = printable(name, 200);
  if (shown.size() <= most) return shown;
  std::size_t begin = shown.size() - most + 1;
  while (begin < shown.size() && (static_cast<unsigned char>(shown[begin]) & 0xc0U) == 0x80U) ++begin;
  return "…" + shown.substr(begin);
}

std::string jump_text(const LayerGrowth& growth) {
  const LayerDifference& tensor = growth.tensors[*growth.jump];
  const std::string how =
      tensor.is_apart ? "it " + printable(tensor.reason, 200)
      : tensor.tally.non_finite_apart > 0
          ? fmt::format("{} of its {} values {} NaN or infinite in one of the two only", tensor.tally.non_finite_apart,
                        tensor.tally.count, tensor.tally.non_finite_apart == 1 ? "is" : "are")
          : fmt::format("relative L2 error {}, above the {} that rounding explains", layer_number(growth_error(tensor)),
                        layer_number(tensor.floor));
  return fmt::format(
      "they diverge at {} ({}): {}; before it {}", printable(tensor.name, 120), maker(tensor), how,
      growth.before_jump > 0 ? "at most " + layer_number(growth.before_jump) : "all numbers are the same");
}

// "2 tensors could not be compared, such as y, which holds texts that differ, …"
std::string uncompared(const LayerGrowth& growth) {
  const auto apart = std::ranges::find_if(growth.tensors, [](const auto& tensor) { return !tensor.reason.empty(); });
  if (apart == growth.tensors.end()) return {};
  const std::size_t count = growth.tensors.size() - compared_tensors(growth);
  return fmt::format("{} could not be compared{} {}, which {}", tensors(count), count == 1 ? ":" : ", such as",
                     printable(apart->name, 80), printable(apart->reason, 200));
}

// Integers differ, or numbers from zeros: no error can be followed.
std::string other_differences(const LayerDifference& first) {
  return fmt::format(
      "numbers differ, first at {} ({}), but in no tensor that has a relative error: integers, or a reference of zeros",
      printable(first.name, 120), maker(first));
}

std::string layers_text(const LayerGrowth& growth, const Answer& answer) {
  if (answer.kind == AnswerKind::part) return jump_text(growth);
  const auto compared = static_cast<std::size_t>(answer.n);
  if (answer.kind == AnswerKind::equal && compared < growth.tensors.size())
    return fmt::format("the same numbers in the {} that could be compared; {}", tensors(compared), uncompared(growth));
  if (answer.kind == AnswerKind::equal)
    return fmt::format("the same numbers in {}{}", compared == 1 ? "" : "all ", tensors(compared));
  if (growth.tensors.empty()) return "no tensor of the one has a partner in the other";
  if (compared == 0) return uncompared(growth);
  if (!answer.place) return other_differences(growth.tensors.at(growth.first_difference.value_or(0)));
  const LayerDifference& tensor = growth.tensors.at(*answer.place);
  const std::string largest =
      fmt::format("the largest relative L2 error is {} at {} ({})", layer_number(growth_error(tensor)),
                  printable(tensor.name, 120), maker(tensor));
  if (answer.kind == AnswerKind::rounding_only) return "they diverge nowhere beyond what rounding explains: " + largest;
  return fmt::format(
      "the error grows step by step, nowhere {:g} times at once: {}, where rounding of one operator "
      "explains {}",
      least_jump, largest, layer_number(tensor.floor));
}

class LayersText {
 public:
  LayersText(const LayersRecord& record, std::size_t width, bool color)
      : record_(record),
        growth_(record.growth),
        width_(std::clamp(width, layers_narrowest, layers_widest)),
        color_(color) {}

  std::string render() {
    answer();
    who(record_.reference, record_.reference_trial, "reference");
    who(record_.candidate, record_.candidate_trial, "candidate");
    paragraph(fmt::format("both on {}; sandbox {}", printable(record_.item, 120), record_.sandbox));
    chart();
    table();
    left_out();
    paragraph(fmt::format("note: {}", kExposedNote));
    return std::move(text_);
  }

 private:
  void paragraph(const std::string& line) { text_ += wrapped(line, width_, 2) + '\n'; }

  void answer() {
    const WordedAnswer answer = worded_answer(record_);
    const std::string line = fmt::format("{} {}", sign_of(answer.tone()), answer.text);
    text_ += painted(wrapped(line, width_, 2), answer.tone(), color_) + "\n\n";
  }

  void who(const Subject& subject, const Samples& trial, const char* role) {
    paragraph(fmt::format("{}: {}, {} {}, executed in {}", role, printable(subject.label, 120),
                          printable(trial.executed_value("runtime"), 40),
                          printable(trial.executed_value("runtime_version"), 40),
                          printable(trial.executed_value("dtype"), 40)));
  }

  void chart() {
    std::vector<double> logs;
    std::size_t mark = 0;
    for (std::size_t i = 0; i < growth_.tensors.size(); ++i) {
      const auto error = growth_error(growth_.tensors[i]);
      if (growth_.jump && i == *growth_.jump) mark = logs.size();
      if (error) logs.push_back(std::log10(std::clamp(*error, smallest_drawn, 1e10)));
    }
    if (logs.size() < 2) return;
    const auto [low, high] = std::ranges::minmax(logs);
    const std::size_t columns = std::min(logs.size(), width_ - 2);
    text_ += '\n';
    paragraph(fmt::format("relative L2 error along the graph, {} to {} (logarithmic):",
                          low <= std::log10(smallest_drawn) ? "0" : layer_number(std::pow(10, low)),
                          layer_number(std::pow(10, high))));
    text_ += "  " + sparkline(logs, columns) + '\n';
    // The column whose part of the values holds it: sparkline() cuts them at edge * values / columns.
    if (growth_.jump)
      text_ += std::string(2 + (mark * columns + columns - 1) / logs.size(), ' ') + "^ they diverge here\n";
  }

  std::set<std::size_t> shown() const {
    std::set<std::size_t> rows;
    const auto centre = growth_.jump ? growth_.jump : growth_.first_difference;
    if (!centre) return rows;
    const std::size_t begin = *centre - std::min(*centre, neighbours);
    for (std::size_t i = begin; i < std::min(growth_.tensors.size(), *centre + neighbours + 1); ++i) rows.insert(i);
    std::vector<std::pair<double, std::size_t>> errors;
    for (std::size_t i = 0; i < growth_.tensors.size(); ++i) {
      if (const auto error = growth_error(growth_.tensors[i]); error && *error > 0) errors.emplace_back(-*error, i);
    }
    std::ranges::sort(errors);
    for (std::size_t i = 0; i < std::min(errors.size(), worst_shown); ++i) rows.insert(errors[i].second);
    return rows;
  }

  std::vector<Cell> row(std::size_t index) const {
    const LayerDifference& tensor = growth_.tensors[index];
    const bool is_jump = growth_.jump == index;
    const std::string note = is_jump                             ? "they diverge"
                             : growth_.first_difference == index ? "first difference"
                             : !tensor.reason.empty()            ? "not compared"
                             : worst_tensor(growth_) == index    ? "largest"
                                                                 : "";
    std::vector<Cell> cells = {{shortened(tensor.name, width_ / 3), is_jump ? Tone::bad : Tone::plain},
                               {printable(tensor.op, 40)},
                               {layer_number(growth_error(tensor))},
                               {layer_number(tensor.tally.of_errors().relative_max())},
                               {note, is_jump ? Tone::bad : Tone::faint}};
    if (types_differ()) cells.push_back({tensor.dtype + "/" + tensor.candidate_dtype});
    return cells;
  }

  bool types_differ() const {
    return std::ranges::any_of(growth_.tensors, [](const auto& t) { return t.dtype != t.candidate_dtype; });
  }

  void table() {
    Grid grid{.columns = {{"tensor"}, {"operator"}, {"rel. L2", Align::right}, {"rel. max", Align::right}, {""}},
              .rows = {}};
    if (types_differ()) grid.columns.push_back({"types"});
    for (const std::size_t index : shown()) grid.rows.push_back(row(index));
    if (grid.rows.empty()) return;
    text_ += '\n' + grid_text(grid, {.width = width_, .rule = 0, .color = color_});
  }

  void left_out() {
    text_ += '\n';
    const auto by_order = std::ranges::count_if(growth_.tensors, &LayerDifference::matched_by_order);
    paragraph(fmt::format("{} matched{}", tensors(growth_.tensors.size()),
                          by_order > 0 ? fmt::format(", {} of them by operator, shape and order", by_order) : ""));
    alone(growth_.reference_only, "reference");
    alone(growth_.candidate_only, "candidate");
    if (const std::string line = uncompared(growth_); !line.empty()) paragraph(line);
  }

  void alone(const std::vector<std::string>& names, const char* role) {
    if (names.empty()) return;
    std::vector<std::string> first;
    for (std::size_t i = 0; i < std::min(names.size(), names_shown); ++i) first.push_back(printable(names[i], 80));
    paragraph(fmt::format("of the {} alone: {}, {}{}", role, tensors(names.size()), fmt::join(first, ", "),
                          names.size() > names_shown ? ", …" : ""));
  }

  const LayersRecord& record_;
  const LayerGrowth& growth_;
  std::size_t width_;
  bool color_;
  std::string text_;
};

}  // namespace

WordedAnswer worded_answer(const LayersRecord& record) {
  const Answer answer = layers_answer(record.growth);
  return {answer, layers_text(record.growth, answer)};
}

std::string render_layers(const LayersRecord& record, std::size_t width, bool color) {
  return LayersText(record, width, color).render();
}

}  // namespace infermeter
