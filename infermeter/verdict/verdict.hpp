// Verdict: the value that judge() makes of a run's record.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/stats/changes/leak.hpp"
#include "infermeter/stats/summary/proportions.hpp"
#include "infermeter/stats/summary/summary.hpp"
#include "infermeter/verdict/answers/answer.hpp"
#include "infermeter/verdict/answers/check.hpp"
#include "infermeter/verdict/comparison.hpp"
#include "infermeter/verdict/load/load_validity.hpp"
#include "infermeter/verdict/perplexity.hpp"
#include "infermeter/verdict/profile_findings.hpp"
#include "infermeter/verdict/run_record.hpp"
#include "infermeter/verdict/tuning/tuning_verdict.hpp"

namespace infermeter {

struct AccuracyVerdict {
  const SubjectAccuracy* measured = nullptr;  // into the record
  std::optional<double> share;                // of rows, or of pixels, that are right, in [0, 1]
  std::optional<Interval> interval;           // of rows (Wilson); none of pixels and tokens, which are not independent
  // This one's share less that of its group's first one, on the same rows.
  std::optional<PairedProportions> change{};
  std::optional<double> perplexity{};                   // of texts
  std::optional<PerplexityChange> perplexity_change{};  // against its group's first one, on the same texts
};

struct SubjectVerdict {
  int subject = 0;
  Summary summary;
  // Against the first subject of its group; empty for that one itself.
  std::optional<int> baseline;
  std::vector<Ratio> ratios;  // latency_p50, throughput, memory_peak
  // Is it faster? A comparison's decision, by its metric; else by latency_p50. nullopt: nothing to compare with.
  std::optional<Direction> direction{};
  const SubjectOutputs* outputs = nullptr;  // into the record; null: not compared
  std::optional<LeakEstimate> leak;         // of its leak trial
  std::optional<AccuracyVerdict> accuracy{};
  std::optional<LoadValidity> load{};  // of a subject under load
};

struct Verdict {
  std::vector<SubjectVerdict> subjects;         // in the plan's order
  std::optional<ComparisonVerdict> comparison;  // the answer to the plan's question
  std::optional<TuningVerdict> tuning{};        // of a race of settings
  std::optional<ProfileFindings> profile{};     // what its profile trials say
  bool of_a_program = false;                    // its subjects are objects of the program that measured them
  // Everything that a reader must know, each once: the run's, the trials' (merged when they say the same), those of the
  // subjects' summaries and of their outputs' comparisons, and what judging found (precision_differs, …).
  std::vector<Diagnostic> diagnostics;
  // What the run deserves (docs/cli.md); the first that holds: 130 a trial was interrupted (143 is the caller's to
  // know), 2 what was asked for cannot be done, 4 a worker crashed, timed out or ran out of memory, 3 a model failed to
  // load or run, 1 outputs differ, or a candidate is slower and the question says that this fails, 5 the same of what
  // cannot be determined, 0. Of a race settings that fail are results: 0 where one is best.
  int exit_code = 0;
  std::vector<Answer> answers{};  // what went wrong first (answers/run_answers.hpp)
  std::vector<Check> checks{};    // answers/run_checklist.hpp
};

// Of a ratio of times, baseline by candidate: faster or slower where the interval leaves out 1, equivalent where it
// lies between 1 / (1 + precision) and 1 + precision.
[[nodiscard]] Direction direction_of(const Estimate& ratio, double precision);

// The ratio by this metric; nullptr: there is none.
[[nodiscard]] const Ratio* ratio_of(const SubjectVerdict& verdict, std::string_view metric);
// Does the counter say what its name does? A figure of the subject's load need not (LoadValidity::why_no_figure).
[[nodiscard]] bool is_determined(const SubjectVerdict& verdict, const CounterSummary& counter);
// What the subject's memory is: the device's, where its framework accounts for one of its own, as the host's says
// little about a model that is not there; else the worker's resident memory.
[[nodiscard]] bool is_on_device(const SubjectVerdict& verdict);

}  // namespace infermeter
