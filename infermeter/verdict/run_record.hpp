// RunRecord: everything that a run leaves, raw. What the store keeps and what every report is made from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/fidelity/accuracy.hpp"
#include "infermeter/fidelity/compare_outputs.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/samples/environment.hpp"
#include "infermeter/samples/machine_peaks.hpp"
#include "infermeter/samples/model_facts.hpp"
#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/samples/samples.hpp"
#include "infermeter/samples/stack_profile.hpp"

namespace infermeter {

struct SubjectOutputs {
  int subject = 0;
  int reference = 0;  // the subject whose outputs were the reference
  OutputComparison comparison;
};

// How right a subject is, where labels were given.
struct SubjectAccuracy {
  int subject = 0;
  Accuracy accuracy;
  std::optional<int> reference;       // the first subject of its group; nullopt: it is that
  std::optional<PairedRight> paired;  // with the reference's rows; nullopt: of masks and texts
  // Of texts, whose labels are the next tokens: the mean log loss of each, in nats; NaN: a token has a share of 0.
  std::vector<double> text_losses{};

  [[nodiscard]] bool is_of_texts() const { return !text_losses.empty(); }
};

// What a machine's noise was when a program was compared with itself there (doctor --aa).
struct MachineNoise {
  double measured_at = 0;  // seconds since 1970, UTC
  std::string subject;     // short form of what was compared with itself
  std::string metric;
  int pairs = 0;
  double standard_deviation = 0;  // of a pair's difference of logarithms
};

// One of the runs that a record was put together from (verdict/join_runs.hpp).
struct JoinedRun {
  std::string id;
  double created_at = 0;
  std::string machine{};                 // fingerprint
  double level = 0.05;                   // two-sided, that makes its intervals over processes cover with 95 %
  std::vector<std::string> unmatched{};  // labels of its subjects that the other run does not have
  std::string host{};                    // where machines are compared: what the machine is called; else empty
};

struct RunRecord {
  std::string id;         // "20261121-114200-3f9a": UTC time and four random hex digits
  double created_at = 0;  // seconds since 1970, UTC
  bool finished = false;
  Plan plan;
  Environment environment;
  std::vector<ModelFacts> models;    // one per subject, same order
  std::vector<Samples> trials;       // in the order in which they ran
  std::vector<Samples> side_trials;  // pilots, leak and profile trials: no figure of speed is made from them
  std::vector<SubjectOutputs> outputs;
  std::vector<SubjectAccuracy> accuracy{};
  std::vector<OperatorProfile> profiles{};  // of profile trials, by their position; those that reported something
  std::vector<TrialStacks> stacks{};        // of profile trials, by their position
  std::optional<MachinePeaks> peaks{};      // of profiled runs
  std::vector<Diagnostic> diagnostics;      // of the whole run
  std::optional<MachineNoise> noise;        // of this machine, as known when the run began; with a question only
  std::string part_of{};                    // of a gate's or study's runs: the id of the first; empty: of none
  // Of a record that is no run, but two stored ones to be compared, or machines: which, the baseline first. Never
  // stored.
  std::vector<JoinedRun> joined{};
};

// Are its groups one subject on several machines (verdict/apart/join_machines.hpp)?
[[nodiscard]] bool compares_machines(const RunRecord& record);
[[nodiscard]] const Subject& subject_at(const RunRecord& record, int subject);
// nullptr where the record does not say.
[[nodiscard]] const ModelFacts* model_of(const RunRecord& record, int subject);
// The first trial of the subject that did not end well; nullptr if all did.
[[nodiscard]] const Samples* failed_trial(const RunRecord& record, int subject);
// "crashed, signal 9", "timeout in load".
[[nodiscard]] std::string end_of(const Samples& trial);

}  // namespace infermeter
