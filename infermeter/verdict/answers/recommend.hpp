// What a run recommends: what each subject is better and worse at than its baseline, as values. Each stands on its
// interval; what cannot be determined is not there. The words are report/recommendations.hpp's.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

struct Recommendation {
  enum class Kind {
    faster,               // value: baseline's median latency / this one's
    slower,               // the same, below 1
    not_faster,           // the same: a gain of `least_change` is ruled out, a loss of it is not shown
    less_memory,          // value: baseline's peak memory less this one's, in bytes, above 0
    more_memory,          // the same, below 0
    smaller_model,        // value: baseline's size of files / this one's; exact
    larger_model,         // the same, below 1
    accuracy_maintained,  // value: this one's share of right rows less the baseline's; the interval of a loss ends
                          // within the allowance
    accuracy_lost,        // the same; it does not, and there is a loss
    accuracy_unclear,     // the same; neither can be determined yet
    outputs_agree,        // every output is within tolerance; no value
    outputs_differ,       // value: the largest absolute difference; NaN where it is no number
    outputs_undecided,    // whether they agree cannot be determined; no value
  };
  Kind kind{};
  int subject = 0, baseline = 0;
  double value = 0;
  std::optional<Interval> interval{};        // of the value; of less_memory and more_memory: of the ratio of the two
  std::optional<std::uint64_t> more_rows{};  // accuracy_unclear: that it would take, if the shares stay as they are
};

// "faster", "accuracy_maintained": as in files.
[[nodiscard]] std::string_view to_string(Recommendation::Kind kind);

struct RecommendOptions {
  double least_change = 0.01;         // smaller changes of time, memory and size are not worth a word
  double accuracy_allowance = 0.001;  // a loss within it is none: one right answer in a thousand
};

// Of one subject against the first of its group, in the order of `Kind`; empty for that one itself, and for one that
// never ran.
[[nodiscard]] std::vector<Recommendation> recommend(const RunRecord& record, const SubjectVerdict& subject,
                                                    const RecommendOptions& options = {});

}  // namespace infermeter
