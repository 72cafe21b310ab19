// History: what the figures of one series on one machine say over time: its levels, the changes between them, and what
// else changed there. A pure function of the figures. No verdict: days differ by more than builds, so that a change in
// a history is a reason to compare the two builds side by side, and nothing more.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/stats/changes/change_points.hpp"
#include "infermeter/verdict/figures.hpp"

namespace infermeter {

// Something beside the metric that was another one before a change than after it.
struct ContextChange {
  enum class What { runtime_version, model, infermeter_version, git_commit };
  What what{};
  std::string before, after;  // the model: SHA-256
  // Where it is, in runs from the change: 0, or -1 or 1, as noise may move a change point by a run. Commits, which are
  // other ones in every run of many projects, are reported at 0 only.
  int runs_off = 0;
};
[[nodiscard]] std::string_view to_string(ContextChange::What what);

struct HistoryChange {
  ChangePoint point;  // its index is one of History::figures
  bool worse = false;
  std::vector<ContextChange> context;
};

struct History {
  std::string series, machine, metric;
  std::vector<Figure> figures;  // one per run, by date
  std::vector<Level> levels;    // none with too few runs
  std::vector<HistoryChange> changes;
  int left_out = 0;  // values of 0, which have no logarithm
  // Runs left out because other work disturbed at least half of their processes; none where too few others would
  // remain, and none of figures of memory, which other work does not change.
  int disturbed = 0;
  bool too_few = false;

  // The last change, if it is for the worse: the level that the series is on now is worse than the one before it.
  [[nodiscard]] const HistoryChange* alarm() const;
};

// Runs that it takes to look for changes: the least on each side of one.
[[nodiscard]] constexpr std::size_t fewest_runs(const ChangeOptions& options = {}) { return 2 * options.least; }

// `figures`: of one series, machine and metric; in any order, but for runs that began in the same second. Where a run
// has several, the last subject's counts: of a comparison that is the candidate, and two values of one moment would be
// taken for two of two days.
[[nodiscard]] History judge_history(std::vector<Figure> figures, const ChangeOptions& options = {});

// One for each series, machine and metric, in this order.
[[nodiscard]] std::vector<History> judge_histories(std::vector<Figure> figures, const ChangeOptions& options = {});

}  // namespace infermeter
