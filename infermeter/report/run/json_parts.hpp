// The parts of the JSON report, each an object of docs/schema/run.schema.json.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/report/run/trial_iterations.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

void write_plan(JsonWriter& json, const Plan& plan);
void write_environment(JsonWriter& json, const Environment& environment);
void write_model(JsonWriter& json, const ModelFacts& model);
void write_subject(JsonWriter& json, const Subject& subject, const SubjectVerdict& verdict,
                   const std::vector<Samples>& trials, bool of_a_program);  // `trials` of the run
void write_estimate(JsonWriter& json, const Estimate& estimate);            // its members
// With its key; nothing of a subject that is not under load.
void write_load(JsonWriter& json, const Subject& subject, const SubjectVerdict& verdict,
                const std::vector<Samples>& trials);
void write_output_difference(JsonWriter& json, const OutputDifference& output);
void write_accuracy(JsonWriter& json, const std::optional<AccuracyVerdict>& accuracy);  // with its key
void write_interval(JsonWriter& json, std::string_view name, const std::optional<Interval>& interval);
void write_comparison(JsonWriter& json, const std::optional<ComparisonVerdict>& verdict);  // each with its key
void write_paired(JsonWriter& json, const PairedComparison& comparison);                   // its members
void write_tuning(JsonWriter& json, const std::optional<TuningVerdict>& verdict, const std::optional<Tuning>& asked);
void write_planned_tuning(JsonWriter& json, const std::optional<Tuning>& tuning);
void write_joined(JsonWriter& json, const std::vector<JoinedRun>& runs);
void write_question(JsonWriter& json, const std::optional<Question>& question);
void write_machine_noise(JsonWriter& json, const std::optional<MachineNoise>& noise);
void write_leak(JsonWriter& json, const std::optional<LeakEstimate>& leak);
void write_trial(JsonWriter& json, const Samples& trial, const TrialIterations* iterations);  // null: without them
// The whole: an object of its root. `iterations` gives those of a trial; empty: without them.
void write_run(JsonWriter& json, const RunRecord& record, const Verdict& verdict,
               const std::function<TrialIterations(const Samples&)>& iterations);
void write_profile(JsonWriter& json, const RunRecord& record,
                   const std::optional<ProfileFindings>& findings);        // with its key
void write_stacks(JsonWriter& json, const std::vector<StackTree>& trees);  // each with its key
void write_stack_differences(JsonWriter& json, const std::vector<StackTree>& trees);
// With its key. `of_a_program`: as remedy_of (answers.hpp) has it.
void write_diagnostics(JsonWriter& json, const std::vector<Diagnostic>& diagnostics, bool of_a_program = false);

}  // namespace infermeter
