#include "infermeter/report/validation/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/numbers/number_text.hpp"
#include "infermeter/report/run/parting_grid.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

const Cell kNone{"–", Tone::faint};

Cell difference_cell(const std::optional<double>& value) { return value ? Cell{difference_text(*value)} : kNone; }

Cell decibels(const std::optional<double>& value) {
  if (!value) return kNone;
  return {std::isinf(*value) ? "∞" : three_digits(*value) + " dB"};
}

// Near 1, where what is missing is what counts.
Cell likeness(const std::optional<double>& value) {
  if (!value) return kNone;
  return {std::abs(1 - *value) < 5e-7 ? "1" : fmt::format("{:.6f}", *value)};
}

Cell share_cell(const std::optional<double>& value) { return value ? Cell{three_digits(*value * 100) + " %"} : kNone; }

Cell verdict_cell(bool within, const OutputDifference& output) {
  if (!output.comparable) return {"✗ not alike", Tone::bad};
  if (!within) return {"✗ DIFFERS", Tone::bad};
  return output.undecided.empty() ? Cell{"✓ agrees", Tone::good} : Cell{"? undecided", Tone::warning};
}

// A column that has nothing but dashes says nothing.
Grid without_empty_columns(const Grid& grid) {
  Grid kept;
  kept.rows.resize(grid.rows.size());
  for (std::size_t column = 0; column < grid.columns.size(); ++column) {
    const auto is_empty = [&](const auto& row) { return row[column].text == kNone.text; };
    if (column > 0 && std::ranges::all_of(grid.rows, is_empty)) continue;
    kept.columns.push_back(grid.columns[column]);
    for (std::size_t row = 0; row < grid.rows.size(); ++row) kept.rows[row].push_back(grid.rows[row][column]);
  }
  return kept;
}

Cell difference_figure_cell(const DifferenceFigure& figure, const DifferenceFigures& figures) {
  const std::optional<double> value = figure.of(figures);
  if (figure.unit == DifferenceFigure::Unit::decibels) return decibels(value);
  if (figure.unit == DifferenceFigure::Unit::share) return share_cell(value);
  return figure.reading == DifferenceFigure::Reading::likeness ? likeness(value) : difference_cell(value);
}

// Those that tables of this kind or of a smaller one show, in the order of their columns.
std::vector<DifferenceFigure> figures_in(DifferenceFigure::Tables tables) {
  std::vector<DifferenceFigure> shown;
  std::ranges::copy_if(difference_figures(), std::back_inserter(shown),
                       [&](const DifferenceFigure& figure) { return figure.tables >= tables; });
  std::ranges::sort(shown, {}, &DifferenceFigure::column);
  return shown;
}

void add_columns(Grid& grid, const std::vector<DifferenceFigure>& figures) {
  for (const DifferenceFigure& figure : figures) grid.columns.push_back({std::string(figure.title), Align::right});
}

void add_cells(std::vector<Cell>& row, const std::vector<DifferenceFigure>& figures, const DifferenceFigures& of) {
  for (const DifferenceFigure& figure : figures) row.push_back(difference_figure_cell(figure, of));
}

Grid outputs_grid(const Validation& validation) {
  Grid grid;
  grid.columns = {{"Output"}, {"Verdict"}, {"Max. diff.", Align::right}, {"Allowed", Align::right}};
  const auto figures = figures_in(DifferenceFigure::Tables::outputs);
  add_columns(grid, figures);
  for (const OutputDifference& o : validation.outputs.outputs) {
    const std::string name = printable(o.name, 60);
    if (!o.comparable) {
      std::vector<Cell> row(grid.columns.size(), kNone);
      row[0] = {name}, row[1] = verdict_cell(false, o);
      grid.rows.push_back(std::move(row));
      continue;
    }
    grid.rows.push_back(
        {{name}, verdict_cell(o.within_tolerance, o), difference_cell(o.max_absolute), {difference_text(o.allowed)}});
    add_cells(grid.rows.back(), figures, o);
  }
  return without_empty_columns(grid);
}

Grid samples_grid(const Validation& validation, std::size_t worst) {
  Grid grid;
  grid.columns = {{"Sample"},
                  {"Output"},
                  {"Verdict"},
                  {"Max. diff.", Align::right},
                  {"at"},
                  {"Baseline", Align::right},
                  {"Candidate", Align::right},
                  {"Beyond", Align::right}};
  const auto figures = figures_in(DifferenceFigure::Tables::outputs_and_samples);
  add_columns(grid, figures);
  for (const std::size_t index : worst_samples(validation, worst)) {
    const SampleDifference& s = validation.samples[index];
    const OutputDifference& output = validation.outputs.outputs.at(s.output);
    const bool any = s.max_absolute.value_or(0) > 0;
    grid.rows.push_back({{sample_name(validation, s.item)},
                         {printable(output.name, 60)},
                         verdict_cell(s.within_tolerance, output),
                         difference_cell(s.max_absolute),
                         any ? Cell{place_text(s.max_absolute_index, output.shape, output.dtype)} : kNone,
                         any ? Cell{fmt::format("{:.6g}", s.reference_at_max)} : kNone,
                         any ? Cell{fmt::format("{:.6g}", s.candidate_at_max)} : kNone,
                         s.mismatched > 0 ? Cell{fmt::format("{}", s.mismatched)} : kNone});
    add_cells(grid.rows.back(), figures, s);
  }
  return without_empty_columns(grid);
}

std::string head_of(const ValidationSubject& subject) {
  const auto executed = [&](std::string_view key) {
    const auto found = std::ranges::find(subject.executed, key, &std::pair<std::string, std::string>::first);
    return found == subject.executed.end() ? std::string() : printable(found->second, 60);
  };
  std::string text = printable(subject_name(subject), 120);
  for (const std::string& part :
       {executed("runtime") + (executed("runtime_version").empty() ? "" : " " + executed("runtime_version")),
        executed("dtype"), executed("device")}) {
    if (!part.empty()) text += ", " + part;
  }
  return text;
}

std::string inputs_of(const Validation& validation) {
  const auto count = static_cast<std::int64_t>(validation.items.size());
  const std::string source = printable(validation.data.source, 120);
  if (validation.are_texts)
    return fmt::format("{} of {}; the label of a token is the next one", counted(count, "text", "texts"), source);
  std::string text = fmt::format("{} of {}", counted(count, "item", "items"), source);
  if (validation.perturb > 0) {
    text = fmt::format("{}, and {} of it with noise of {} % of the valid range, seed {}",
                       source == "synthetic" ? "a synthetic item" : "the first item of " + source,
                       validation.perturb - 1, plain_number(validation.noise * 100), validation.seed);
  } else if (source == "synthetic") {
    text += fmt::format(" data, seed {}", validation.seed);
  }
  if (!validation.data.labels.empty()) text += ", labels of " + printable(validation.data.labels, 120);
  return text;
}

}  // namespace

std::string subject_name(const ValidationSubject& subject) { return printable(subject.subject.label, 120); }

std::string sample_name(const Validation& validation, std::size_t item) {
  if (item >= validation.items.size()) return fmt::format("item {}", item);
  const std::string& name = validation.items[item];
  const std::size_t slash = name.rfind('/');
  const bool is_path = slash != std::string::npos && slash + 1 < name.size();
  return printable(is_path ? std::string_view(name).substr(slash + 1) : std::string_view(name), 80);
}

std::string difference_text(double value) {
  if (value == 0) return "0";
  return std::abs(value) >= 1e-3 && std::abs(value) < 1e5 ? three_digits(value) : fmt::format("{:.2e}", value);
}

ValidationWords validation_words(const Validation& validation, std::size_t worst) {
  ValidationWords words;
  const WordedAnswer title = worded_answers(validation).front();
  words.title = {title.tone(), title.text};
  words.heads = {{"baseline", head_of(validation.baseline)},
                 {"candidate", head_of(validation.candidate)},
                 {"inputs", inputs_of(validation)},
                 {"sandbox", validation.sandbox}};
  words.outputs = outputs_grid(validation);
  words.samples = samples_grid(validation, worst);
  words.partings =
      parting_grid(validation.outputs.outputs, [&](std::size_t item) { return sample_name(validation, item); });
  const std::size_t shown = words.samples.rows.size();
  words.samples_title = shown < validation.items.size()
                            ? fmt::format("BY SAMPLE, the worst {} of {}", shown, validation.items.size())
                            : "BY SAMPLE, the worst first";
  words.sentences = validation_sentences(validation);
  return words;
}

std::vector<Diagnostic> diagnostics_of(const Validation& validation) {
  std::vector<Diagnostic> all = validation.diagnostics;
  all.insert(all.end(), validation.outputs.diagnostics.begin(), validation.outputs.diagnostics.end());
  return all;
}

}  // namespace infermeter
