// Validation: whether one subject answers as another one does, on the same inputs: everything that `infermeter
// validate` found, and what it says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infermeter/fidelity/accuracy.hpp"
#include "infermeter/fidelity/compare_outputs.hpp"
#include "infermeter/fidelity/output_comparer.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/stats/summary/proportions.hpp"
#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/perplexity.hpp"

namespace infermeter {

struct ValidationSubject {
  Subject subject;
  ModelFacts model;
  Pairs executed;  // as its back end reports it
};

// How right both are, where it is known what is right.
struct AccuracyDrop {
  Accuracy baseline, candidate;
  // Wilson's, of the shares of right rows; nullopt: of masks and texts, whose pixels and tokens are not independent of
  // each other.
  std::optional<Interval> baseline_interval{}, candidate_interval{};
  std::optional<PairedRight> paired{};  // of the same rows; nullopt: of masks and texts
  // The candidate's share less the baseline's. Of labels: Newcombe's interval and McNemar's p from the paired rows. Of
  // masks and texts: Student's t over the items' shares, without a p; nullopt: fewer than two items.
  std::optional<PairedProportions> change{};
  std::optional<double> allowed{};  // how much the share may drop; nullopt: not judged
};

struct ValidationTimes {
  double models_s = 0;  // both subjects' trials, from start to end of their processes, less what making data took
  double again_s = 0;   // the baseline's second process, likewise
  double data_s = 0;    // reading, decoding and perturbing inputs
  double whole_s = 0;
};

struct Validation {
  double created_at = 0;  // seconds since 1970, UTC
  std::string hostname;   // where the two ran
  ValidationSubject baseline, candidate;
  DataRequest data;
  std::int64_t perturb = 0;  // 0: the data as they are
  double noise = 0;
  std::uint64_t seed = 1;
  std::string sandbox;             // the level in force (verdict/sandbox_in_force.hpp)
  std::vector<std::string> items;  // their names
  OutputComparison outputs;
  std::vector<SampleDifference> samples;
  std::size_t again_items = 0;  // on which the baseline ran once more
  OutputComparison again;       // the baseline against itself
  std::optional<AccuracyDrop> accuracy{};
  bool are_texts = false;                        // the items: what is right is the next token
  std::optional<PerplexityChange> perplexity{};  // of texts; nullopt: a token has a share of 0
  std::vector<Diagnostic> diagnostics;
  ValidationTimes times;
};

// What a model answers on inputs that were recorded, against the outputs that were recorded with them.
struct RecordedSet {
  std::string folder;
  OutputComparison outputs;  // the recorded ones are the reference
};
struct RecordedValidation {
  std::vector<RecordedSet> sets;
  [[nodiscard]] bool agree() const;  // of every set every output is within its tolerance
};

// From accuracy.paired, or over items from their shares of right pixels or tokens; fills intervals and change.
void judge_labels(AccuracyDrop& accuracy, double confidence = 0.95);
void judge_items(AccuracyDrop& accuracy, const std::vector<double>& baseline_shares,
                 const std::vector<double>& candidate_shares, double confidence = 0.95);

// Of the drop: fail if the whole interval lies beyond what is allowed, pass if none of it does, inconclusive otherwise.
// nullopt: it is not judged.
[[nodiscard]] std::optional<Outcome> outcome_of(const AccuracyDrop& accuracy);
// Likewise of the increase.
[[nodiscard]] std::optional<Outcome> outcome_of(const PerplexityChange& perplexity);
// Of both, the worse; nullopt: neither is judged.
[[nodiscard]] std::optional<Outcome> outcome_by_truth(const Validation& validation);

// Of all. Where a drop is allowed, labels decide and outputs that can be compared need not be alike; otherwise every
// output must be within its tolerance.
[[nodiscard]] Outcome outcome_of(const Validation& validation);

// How much of what is allowed a sample uses up: above 1 it is beyond. Infinite where only one of the two is a number,
// where anything differs and nothing may, and where text differs.
[[nodiscard]] double share_of_allowed(const SampleDifference& sample, const OutputDifference& output);

// Indices into validation.samples: of each item the output that is worst, the worst item first; at most `count`.
[[nodiscard]] std::vector<std::size_t> worst_samples(const Validation& validation, std::size_t count);

}  // namespace infermeter
