// Expectation: one sentence about a figure ("latency_p99_ms <= 20", "regression <= 10%"), as a value.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/expectation_draft.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

// What a figure is measured in; its base unit is what thresholds and values are kept in.
enum class Dimension { number, seconds, bytes, per_second, factor, share, decibels };
[[nodiscard]] std::string_view unit_of(Dimension dimension);  // "s", "bytes", "items/s", "x", "", "dB"

enum class Relation { less, less_or_equal, greater, greater_or_equal, equal };
[[nodiscard]] std::string_view to_string(Relation relation);  // "<="

struct Expectation {
  enum class Kind {
    metric,             // of the subject's summary: `name`
    memory_after_load,  // resident set
    model_size,         // with its weights files
    parameters,
    nonzero_parameters,
    size_reduction,       // model_size of the first subject of the group / this one's
    output_figure,        // of the outputs against that first subject's, over all of them the worst: `name`
    accuracy_figure,      // of the outputs against labels: `name`; else a counter of that name
    accuracy_drop,        // by how much of all rows the first subject is right more often
    perplexity_increase,  // of the same texts, against that first subject's: candidate / baseline - 1
    counter,              // what the subject itself counted: `name`
    psnr_difference,      // a counter of that name, else by how much the PSNR differs from the first subject's
    speedup,              // against that first subject, by the metric `name`: how many times as good
    regression,           // against a baseline run, else against that first subject: how much worse `name` got
    no_regression,        // the same with a margin, `threshold`
    outputs_agree,
    outputs_repeat,      // every process of the subject gave the same bytes
    counter_difference,  // by how much a counter differs from the first subject's, either way: `name`
    no_leak,
    reproducible,  // `runs` runs of the same subject differ by at most `threshold`
  };
  PlacedText source{};                  // as written
  std::optional<PlacedText> subject{};  // a label; nullopt: every subject that can be judged
  Kind kind{};
  std::string name{};
  Relation relation{};  // with `threshold`, of the kinds that have a figure and a bound
  double threshold = 0;
  Dimension dimension{};
  int runs = 0;

  // Is it about a subject and the first one of its group?
  [[nodiscard]] bool compares() const;
  [[nodiscard]] bool has_bound() const;  // relation and threshold, and not a margin
};

// Of a plan that is to be measured: an error where a drop of accuracy is bounded and its data can have no labels.
[[nodiscard]] Result<Done> check_labels(std::span<const Expectation> expectations, const Plan& plan);

}  // namespace infermeter
