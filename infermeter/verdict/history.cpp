#include "infermeter/verdict/history.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <tuple>

#include "infermeter/stats/summary/metrics.hpp"

namespace infermeter {
namespace {

using What = ContextChange::What;

struct ContextField {
  What what;
  std::string Figure::* value;
  bool also_beside;  // is it looked for one run away as well?
};

constexpr std::array context_fields = {
    ContextField{What::runtime_version, &Figure::runtime_version, true},
    ContextField{What::model, &Figure::model_sha256, true},
    ContextField{What::infermeter_version, &Figure::infermeter_version, true},
    ContextField{What::git_commit, &Figure::git_commit, false},
};

auto series_key(const Figure& figure) { return std::tie(figure.series, figure.machine, figure.metric); }

bool is_lower_better(const std::string& metric) {
  const MetricKind* kind = metric_kind(metric);
  return kind == nullptr || kind->lower_is_better;
}

// By date, the last subject of each run. Runs of one second stay in the order in which they came.
std::vector<Figure> one_per_run(std::vector<Figure> figures) {
  std::ranges::stable_sort(figures, {}, &Figure::created_at);
  std::vector<Figure> kept;
  kept.reserve(figures.size());
  for (Figure& figure : figures) {
    if (kept.empty() || kept.back().run != figure.run) {
      kept.push_back(std::move(figure));
    } else if (figure.subject > kept.back().subject) {
      kept.back() = std::move(figure);
    }
  }
  return kept;
}

// Between the run before `index` and that run.
std::optional<ContextChange> change_at(const std::vector<Figure>& figures, std::size_t index,
                                       const ContextField& field) {
  if (index == 0 || index >= figures.size()) return std::nullopt;
  const std::string &before = figures[index - 1].*field.value, &after = figures[index].*field.value;
  if (before.empty() || after.empty() || before == after) return std::nullopt;
  return ContextChange{.what = field.what, .before = before, .after = after};
}

std::vector<ContextChange> context_of(const std::vector<Figure>& figures, std::size_t index) {
  std::vector<ContextChange> found;
  for (const ContextField& field : context_fields) {
    for (const int off : {0, -1, 1}) {
      if (off != 0 && !field.also_beside) break;
      auto change = change_at(figures, index + static_cast<std::size_t>(off), field);
      if (!change) continue;
      change->runs_off = off;
      found.push_back(std::move(*change));
      break;
    }
  }
  return found;
}

std::vector<double> logs_of(const std::vector<Figure>& figures) {
  std::vector<double> logs(figures.size());
  std::ranges::transform(figures, logs.begin(), [](const Figure& figure) { return std::log(figure.value); });
  return logs;
}

bool is_of_time(const std::string& metric) {
  const MetricKind* kind = metric_kind(metric);
  return kind == nullptr || kind->unit != "bytes";
}

bool is_mostly_disturbed(const Figure& figure) {
  return figure.disturbed > 0 && 2 * figure.disturbed >= figure.processes;
}

// A machine that is always busy has no other runs.
int leave_out_disturbed(std::vector<Figure>& figures, std::size_t fewest) {
  const auto disturbed = std::ranges::count_if(figures, is_mostly_disturbed);
  if (std::ssize(figures) - disturbed < static_cast<std::ptrdiff_t>(fewest)) return 0;
  return static_cast<int>(std::erase_if(figures, is_mostly_disturbed));
}

}  // namespace

std::string_view to_string(ContextChange::What what) {
  switch (what) {
    case What::runtime_version: return "runtime_version";
    case What::model: return "model";
    case What::infermeter_version: return "infermeter_version";
    case What::git_commit: return "git_commit";
  }
  return "";
}

const HistoryChange* History::alarm() const {
  return changes.empty() || !changes.back().worse ? nullptr : &changes.back();
}

History judge_history(std::vector<Figure> figures, const ChangeOptions& options) {
  History history;
  if (figures.empty()) return history.too_few = true, history;
  std::tie(history.series, history.machine, history.metric) = series_key(figures.front());
  history.figures = one_per_run(std::move(figures));
  history.left_out = static_cast<int>(std::erase_if(
      history.figures, [](const Figure& figure) { return !(figure.value > 0 && std::isfinite(figure.value)); }));
  if (is_of_time(history.metric)) history.disturbed = leave_out_disturbed(history.figures, fewest_runs(options));
  history.too_few = history.figures.size() < fewest_runs(options);
  if (history.too_few) return history;
  const std::vector<double> logs = logs_of(history.figures);
  const std::vector<ChangePoint> points = find_change_points(logs, options);
  history.levels = levels_of(logs, points);
  const bool lower_is_better = is_lower_better(history.metric);
  for (const ChangePoint& point : points) {
    history.changes.push_back({.point = point,
                               .worse = lower_is_better ? point.change > 0 : point.change < 0,
                               .context = context_of(history.figures, point.index)});
  }
  return history;
}

std::vector<History> judge_histories(std::vector<Figure> figures, const ChangeOptions& options) {
  std::ranges::stable_sort(figures, {}, series_key);
  std::vector<History> histories;
  for (auto begin = figures.begin(); begin != figures.end();) {
    const auto end = std::find_if(begin, figures.end(),
                                  [&](const Figure& figure) { return series_key(figure) != series_key(*begin); });
    histories.push_back(judge_history({std::make_move_iterator(begin), std::make_move_iterator(end)}, options));
    begin = end;
  }
  return histories;
}

}  // namespace infermeter
