// Answer: what a report says of one question, as a value: about whom, by which figure, how sure. report/ only words it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/stats/comparison/sequential.hpp"
#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

// How an answer is meant. Never shown by colour alone: the words say it too.
enum class Tone { plain, good, warning, bad, faint };
[[nodiscard]] std::string_view to_string(Tone tone);  // "plain", as in files

// What was asked.
enum class AnswerTopic {
  speed,        // is a subject faster than its baseline, by the answer's metric
  fastest,      // which of a group is the fastest; which takes the least memory
  memory,       // does it take less memory than its baseline
  power,        // what these pairs could have shown
  noise,        // of the machine
  level,        // how fast a subject is, where nothing is compared with it
  requests,     // how many inferences were in flight
  outputs,      // do outputs agree with the reference's
  accuracy,     // by labels
  completion,   // did it run to its end
  leak,         // does memory grow
  profile,      // why it is slower or faster
  source,       // where figures come from that were not measured here
  gate,         // all expectations together
  expectation,  // one of them
  agreement,    // of a validation as a whole
  repetition,   // does the baseline give the same outputs again
  values,       // what is odd about an output's values
  history,      // of one series
  layers,       // where two subjects part along the graph
  front,        // the Pareto front
  prediction,   // what counters predict
  design,       // how it was measured, where that limits what can be determined
  tuning,       // which setting is best
  bound,        // does the best one keep to a constraint
  load,         // do the figures of a subject under load say what they seem to say
};
[[nodiscard]] std::string_view to_string(AnswerTopic topic);

enum class AnswerKind {
  // speed, of a metric of which less is better: faster means less of it
  faster,
  slower,
  equivalent,
  undecided,  // there is an interval, and it does not decide
  unknown,    // there is no figure, or no interval
  // fastest, memory
  fastest,
  least_memory,
  less_memory,
  more_memory,
  // power, noise, level, requests
  detectable,
  machine_noise,
  measured,
  not_measured,
  one_request_at_a_time,
  imported,
  // outputs
  outputs_agree,
  outputs_differ,
  outputs_undecided,
  outputs_not_compared,
  outputs_not_comparable,
  // accuracy
  more_accurate,
  less_accurate,
  accurate_enough,      // the drop is within what is allowed
  not_accurate_enough,  // it is not
  // completion, leak, profile
  failed,
  leak,
  no_leak,
  explained,
  not_explained,
  // gate, expectation
  pass,
  fail,
  inconclusive,
  // repetition, values
  does_not_repeat,
  not_finite,
  constant,
  equal,
  // history
  better,
  worse,
  steady,
  // layers
  part,
  grow,
  rounding_only,
  // front
  on_front,
  dominated,
  // prediction
  as_predicted,
  less_than_predicted,
  more_than_predicted,
  predicted,
  // design
  not_interleaved,
  searched,  // not all settings were tried
  // tuning
  best,
  equals,  // of the best
  out,     // settings that were left behind
  // load
  valid,
  not_valid,
};
[[nodiscard]] std::string_view to_string(AnswerKind kind);

// What it would take to settle what is open.
struct AnswerNeed {
  std::int64_t more = 0;
  std::string what;  // "pairs", "processes", "rows"
  std::int64_t total = 0;
  std::optional<double> seconds{};
};

struct Answer {
  AnswerTopic topic{};
  AnswerKind kind{};
  Tone tone = Tone::plain;
  // Indices: into the run's subjects; of a validation and of layers 0 is the baseline and 1 the candidate; of a history
  // into its series; of variants into the variants. Of `dominated` the first is dominated by the
  // others.
  std::vector<int> subjects{};
  std::optional<int> baseline{};
  std::string about{};                 // what else it is about: an output, an expectation, a tensor; text from outside
  std::optional<std::size_t> place{};  // of that in the report's list of them
  std::string metric{};                // what `value` is of: "latency_p50", "accuracy", …; empty: there is no figure
  // Of topic speed: baseline / subject of a metric of which less is better, and the other way round: above 1 the
  // subject is better, whatever the metric. Otherwise in `unit`.
  std::optional<double> value{};
  std::optional<Interval> interval{};
  std::optional<Direction> direction{};  // of topic speed: what the interval says
  std::string unit{};                    // "x", "s", "bytes", "share", …
  std::int64_t n = 0;                    // of what the value is made; 0: it does not say
  std::string n_of{};                    // "pairs", "processes", "iterations", "rows"
  int processes = 0;
  std::string reason{};  // why there is no value or interval; text from outside
  std::optional<AnswerNeed> needed{};
  bool unsettled = false;         // more of the same is unlikely to settle it
  std::vector<Answer> besides{};  // what is said in the same breath: memory, outputs
};

[[nodiscard]] const Answer* beside(const Answer& answer, AnswerTopic topic);  // nullptr: nothing of it is said

// What went wrong comes first; the others stay in their order.
void worst_first(std::vector<Answer>& answers);

}  // namespace infermeter
