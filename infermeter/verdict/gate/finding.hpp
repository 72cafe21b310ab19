// Finding: what the records say about the figure of one expectation and one subject.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/verdict/gate/evidence.hpp"
#include "infermeter/verdict/gate/expectation.hpp"

namespace infermeter {

struct Finding {
  std::optional<double> value;  // base unit
  std::optional<Interval> interval;
  bool exact = false;  // the value is a fact: nothing is uncertain about it
  std::int64_t n = 0;
  std::string n_of;
  int processes = 0;
  std::string why;  // there is no value, or no interval
  std::vector<std::string> notes;
  // What more of would narrow the interval, and how many there are: "processes", 3. 0: nothing would.
  std::string replication = "processes";
  int replications = 0;
  std::optional<int> replications_wanted{};  // that would tell, where that is not by the root of their number
  // Two runs, or unpaired processes, are compared and this machine was disturbed: nothing fails for that.
  bool disturbed = false;
  std::string doubt;  // why nothing passes for it: the load is not valid, say
  // Where the expectation is no bound: what the records say of it, with `why` as the reason.
  std::optional<Outcome> outcome;
};

// Of figures of processes; why: the estimate's own note.
[[nodiscard]] Finding finding_from(const Estimate& estimate);

// Of a value that is exact: it alone. Of one that has neither there is none.
[[nodiscard]] std::optional<Interval> interval_of(const Finding& finding);

// Does it keep within the expectation's bound: all of its interval, none of it, or some; without one nobody knows.
[[nodiscard]] Outcome outcome_within_bound(const Expectation& expectation, const Finding& finding);
[[nodiscard]] bool satisfies(double value, const Expectation& expectation);

// There is no value, and why.
[[nodiscard]] Finding nothing(std::string why);

[[nodiscard]] Finding finding_of(const Expectation& expectation, int subject, const GateEvidence& evidence);

// The parts, each of some kinds of expectation.
[[nodiscard]] Finding find_metric(const Expectation& expectation, int subject, const GateEvidence& evidence);
[[nodiscard]] Finding find_model_fact(const Expectation& expectation, int subject, const GateEvidence& evidence);
[[nodiscard]] Finding find_process_value(const Expectation& expectation, int subject, const GateEvidence& evidence);
[[nodiscard]] Finding find_output_figure(const Expectation& expectation, int subject, const GateEvidence& evidence);
[[nodiscard]] Finding find_repeated_outputs(int subject, const GateEvidence& evidence);
[[nodiscard]] Finding find_counter_difference(std::string_view counter, int subject, const GateEvidence& evidence);
[[nodiscard]] Finding find_accuracy(const Expectation& expectation, int subject, const GateEvidence& evidence);
[[nodiscard]] Finding find_change(const Expectation& expectation, int subject, const GateEvidence& evidence);
[[nodiscard]] Finding find_leak(int subject, const GateEvidence& evidence);
[[nodiscard]] Finding find_reproducibility(const Expectation& expectation, int subject, const GateEvidence& evidence);

}  // namespace infermeter
