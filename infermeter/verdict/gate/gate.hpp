// Gate: expectations compared with what a run says. A pure function of the records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/plan/gate_file.hpp"
#include "infermeter/verdict/gate/evidence.hpp"
#include "infermeter/verdict/gate/expectation.hpp"
#include "infermeter/verdict/verdict.hpp"

namespace infermeter {

struct Gate {
  std::string name;  // of its file
  std::vector<Expectation> expectations;
  bool fail_inconclusive = false;
};
[[nodiscard]] Result<Gate> make_gate(const GateFile& file, std::string name);

// What can be known to be wrong before anything is measured: labels that the plan does not have, expectations that
// nothing can be compared with. `has_baseline`: a run is named that regressions are judged against.
[[nodiscard]] Result<Done> check_gate(const Gate& gate, const Plan& plan, bool has_baseline);

// Is a regression expected of it? Without a baseline the run must be a comparison then.
[[nodiscard]] bool asks_for_regression(const Gate& gate);

// How many runs `reproducible` wants, this one included; 1 where nothing wants more.
[[nodiscard]] int runs_wanted(const Gate& gate);

// How many subjects of `run` were measured in `other` as well, under the same conditions.
[[nodiscard]] std::size_t repeated_subjects(const RunRecord& run, const RunRecord& other);

struct ExpectationVerdict {
  std::size_t expectation = 0;
  int subject = 0;
  Outcome outcome = Outcome::inconclusive;
  std::optional<double> value;  // in the base unit of the expectation's dimension; nullopt: none, or a yes or no
  std::optional<Interval> interval;
  bool exact = false;  // a fact without an interval
  std::int64_t n = 0;  // of what the value is made …
  std::string n_of;    // … "iterations", "processes", "pairs", "items", "rows", "pixels", "runs"; empty: n says nothing
  int processes = 0;
  std::string reason;              // why this outcome, and what would help; one sentence without an end
  std::vector<std::string> notes;  // what a reader must know beside it
};

struct GateVerdict {
  std::vector<ExpectationVerdict> verdicts;  // by expectation, then by subject
  int passed = 0, failed = 0, inconclusive = 0;
  std::string baseline_name, baseline_run;  // empty: none
  // The first that holds: 130 the run was interrupted; of trials of subjects that are judged: 2 what was asked for
  // cannot be done, 4 a worker crashed, timed out or ran out of memory, 3 a model failed; 1 an expectation failed;
  // 5 one is inconclusive and that was to fail; 0.
  int exit_code = 0;
};

// Fail if an expectation failed, else inconclusive if one is.
[[nodiscard]] Outcome outcome_of(const GateVerdict& verdict);

// `gate` was checked for this run's plan.
[[nodiscard]] GateVerdict judge_gate(const Gate& gate, const GateEvidence& evidence);

}  // namespace infermeter
