#include "infermeter/verdict/gate/figure_kinds.hpp"

#include <algorithm>
#include <array>

#include "infermeter/fidelity/difference_figures.hpp"
#include "infermeter/samples/load/load_counters.hpp"

namespace infermeter {
namespace {

using Kind = Expectation::Kind;

// Of each dimension that has suffixes the one of docs/files.md comes first.
constexpr auto units = std::to_array<FigureUnit>({
    {"ms", "_ms", Dimension::seconds, 1, 1e3},
    {"us", "_us", Dimension::seconds, 1, 1e6},
    {"µs", "", Dimension::seconds, 1, 1e6},
    {"ns", "_ns", Dimension::seconds, 1, 1e9},
    {"s", "_s", Dimension::seconds},
    {"MB", "_mb", Dimension::bytes, 1e6},
    {"B", "_bytes", Dimension::bytes},
    {"kB", "_kb", Dimension::bytes, 1e3},
    {"KB", "", Dimension::bytes, 1e3},
    {"GB", "_gb", Dimension::bytes, 1e9},
    {"KiB", "", Dimension::bytes, 1024},
    {"MiB", "", Dimension::bytes, 1048576},
    {"GiB", "", Dimension::bytes, 1073741824},
    {"ips", "_ips", Dimension::per_second},
    {"/s", "", Dimension::per_second},
    {"x", "", Dimension::factor},
    {"%", "", Dimension::share, 1, 100},
    {"dB", "_db", Dimension::decibels},
});

constexpr auto figures = std::to_array<FigureKind>({
    {"latency_p50", "p50", Kind::metric, "latency_p50", Dimension::seconds},
    {"latency_p90", "p90", Kind::metric, "latency_p90", Dimension::seconds},
    {"latency_p95", "p95", Kind::metric, "latency_p95", Dimension::seconds},
    {"latency_p99", "p99", Kind::metric, "latency_p99", Dimension::seconds},
    {"latency_mean", "mean", Kind::metric, "latency_mean", Dimension::seconds},
    {"latency_min", "", Kind::metric, "latency_min", Dimension::seconds},
    {"latency_max", "", Kind::metric, "latency_max", Dimension::seconds},
    {"throughput", "", Kind::metric, "throughput", Dimension::per_second},
    {"peak_memory", "memory_peak", Kind::metric, "memory_peak", Dimension::bytes},
    {"memory", "", Kind::metric, "memory_peak", Dimension::bytes},
    {"memory_load", "", Kind::memory_after_load, "", Dimension::bytes},
    {"load_time", "", Kind::metric, "load_time", Dimension::seconds},
    {"compilation_time", "compile_time", Kind::metric, "compile_time", Dimension::seconds},
    {"first_inference", "first_inference_time", Kind::metric, "first_inference_time", Dimension::seconds},
    {"model_size", "", Kind::model_size, "", Dimension::bytes},
    {"parameters", "", Kind::parameters, "", Dimension::number},
    {"nonzero_parameters", "", Kind::nonzero_parameters, "", Dimension::number},
    {"size_reduction", "", Kind::size_reduction, "", Dimension::factor},
    {"memory_reduction", "", Kind::speedup, "memory_peak", Dimension::factor},
    {"max_absolute_difference", "outputs_max_abs", Kind::output_figure, "max_absolute_difference", Dimension::number},
});

constexpr auto accuracy_figures = std::to_array<FigureKind>({
    {"accuracy", "", Kind::accuracy_figure, "accuracy", Dimension::share},
    {"top5_accuracy", "accuracy_top5", Kind::accuracy_figure, "top5_accuracy", Dimension::share},
    {"accuracy_drop", "", Kind::accuracy_drop, "accuracy_drop", Dimension::share},
    {"perplexity_increase", "", Kind::perplexity_increase, "perplexity_increase", Dimension::share},
    {"mean_iou", "", Kind::accuracy_figure, "mean_iou", Dimension::share},
    {"mean_dice", "", Kind::accuracy_figure, "mean_dice", Dimension::share},
    {"psnr_difference", "", Kind::psnr_difference, "", Dimension::decibels},
});

Dimension dimension_of(const LoadFigure& figure) {
  if (figure.unit == "s") return Dimension::seconds;
  if (figure.unit == "1/s") return Dimension::per_second;
  return figure.unit == "share" ? Dimension::share : Dimension::number;
}

Dimension dimension_of(const DifferenceFigure& figure) {
  switch (figure.unit) {
    case DifferenceFigure::Unit::number: return Dimension::number;
    case DifferenceFigure::Unit::decibels: return Dimension::decibels;
    case DifferenceFigure::Unit::share: return Dimension::share;
  }
  return Dimension::number;
}

// Those above, and the figures of outputs and of a load.
const std::vector<FigureKind>& all_figures() {
  static const std::vector<FigureKind> all = [] {
    std::vector<FigureKind> list(figures.begin(), figures.end());
    for (const DifferenceFigure& figure : difference_figures()) {
      if (!figure.is_judged()) continue;
      list.push_back(
          {figure.gate_name(), figure.also_expectation, Kind::output_figure, figure.gate_name(), dimension_of(figure)});
    }
    list.insert(list.end(), accuracy_figures.begin(), accuracy_figures.end());
    for (const LoadFigure& figure : load_figures()) {
      list.push_back({figure.name, "", Kind::metric, figure.name, dimension_of(figure)});
    }
    return list;
  }();
  return all;
}

const FigureKind* figure_named(std::string_view name) {
  const auto found = std::ranges::find_if(
      all_figures(), [&](const FigureKind& f) { return f.name == name || (!f.also.empty() && f.also == name); });
  return found == all_figures().end() ? nullptr : &*found;
}

}  // namespace

std::optional<NamedFigure> find_figure(std::string_view name) {
  if (const FigureKind* figure = figure_named(name)) return NamedFigure{figure, nullptr};
  for (const FigureUnit& unit : units) {
    if (unit.suffix.empty() || !name.ends_with(unit.suffix)) continue;
    const FigureKind* figure = figure_named(name.substr(0, name.size() - unit.suffix.size()));
    if (figure != nullptr && figure->dimension == unit.dimension) return NamedFigure{figure, &unit};
  }
  return std::nullopt;
}

std::vector<std::string> figure_names() {
  std::vector<std::string> names;
  for (const FigureKind& figure : all_figures()) {
    const auto unit = std::ranges::find_if(
        units, [&](const FigureUnit& u) { return u.dimension == figure.dimension && !u.suffix.empty(); });
    names.push_back(std::string(figure.name) + std::string(unit == units.end() ? "" : unit->suffix));
  }
  return names;
}

const FigureUnit* find_unit(Dimension dimension, std::string_view name) {
  const auto found =
      std::ranges::find_if(units, [&](const FigureUnit& u) { return u.dimension == dimension && u.name == name; });
  return found == units.end() ? nullptr : &*found;
}

std::string unit_names(Dimension dimension) {
  std::vector<std::string_view> names;
  for (const FigureUnit& unit : units) {
    if (unit.dimension == dimension) names.push_back(unit.name);
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

std::string_view unit_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::number: return "";
    case Dimension::seconds: return "s";
    case Dimension::bytes: return "bytes";
    case Dimension::per_second: return "items/s";
    case Dimension::factor: return "x";
    case Dimension::share: return "share";
    case Dimension::decibels: return "dB";
  }
  return "";
}

}  // namespace infermeter
