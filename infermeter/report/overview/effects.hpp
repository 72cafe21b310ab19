// What a run says of each candidate against its baseline, as values: the bars of the first chart, the cells of the
// matrix.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

// An outcome as a sentence and as a word: "faster", "failed".
struct Headline {
  Tone tone = Tone::plain;
  std::string text{}, verdict{};
};

struct Effect {
  int subject = 0;
  std::optional<int> baseline;                // nullopt: it is one itself, and failed
  std::string group;                          // what it shares with its baseline: "resnet50, batch size 1"
  std::string label{}, against{};             // of the two, without what they share
  std::string metric{};                       // "latency_p50", or the question's
  std::optional<double> change{};             // of the metric, a share of the baseline's value: -0.1 is 10 % less
  std::optional<Interval> change_interval{};  // at the level at which the verdict was reached
  Headline verdict{};                         // its word and tone; no text
};

// One of every candidate, and of every baseline that failed, in the plan's order.
[[nodiscard]] std::vector<Effect> effects_of(const RunRecord& record, const Verdict& verdict);

// Smaller changes are no difference: the question's margin, else the precision of the run.
[[nodiscard]] double margin_of(const RunRecord& record);

}  // namespace infermeter
