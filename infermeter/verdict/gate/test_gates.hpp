// Runs and gates for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/gate/parse_expectation.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter::test {

inline Samples trial(int subject, int process, double duration) {
  Samples samples;
  samples.subject = subject;
  samples.process = process;
  samples.phase = Phase::done;
  for (int i = 0; i < 20; ++i) {
    samples.begin_s.push_back(i);
    samples.end_s.push_back(i + duration * (1 + 0.001 * i));
  }
  samples.executed = {
      {"dtype", "float32"}, {"threads", "2"}, {"runtime", "onnxruntime"}, {"runtime_version", "1.31.1"}};
  samples.memory.rss_peak_inference = 1000;
  samples.memory.rss_after_load = 900 + static_cast<std::uint64_t>(process);
  samples.counters = {{"hit_rate", "", 0.9}, {"served", "", 100.0 + process}};
  samples.input_digest = 7;
  return samples;
}

// A subject per label, all of one group; `durations` of the processes of each.
inline RunRecord run_of(std::vector<std::string> labels, std::vector<std::vector<double>> durations) {
  RunRecord record;
  record.id = "run";
  record.finished = true;
  record.environment.processor = "this";
  for (std::size_t i = 0; i < labels.size(); ++i) {
    Subject subject;
    subject.label = labels[i];
    subject.model = "mlp";
    subject.backend = "onnxruntime";
    record.plan.subjects.push_back(subject);
    ModelFacts model;
    model.name = "mlp";
    model.sha256 = "aa";
    model.size_bytes = 102'400'000;
    model.parameters = 25'557'032;
    record.models.push_back(model);
    for (std::size_t process = 0; process < durations[i].size(); ++process) {
      record.trials.push_back(trial(static_cast<int>(i), static_cast<int>(process), durations[i][process]));
    }
  }
  record.plan.processes = static_cast<int>(durations.front().size());
  return record;
}

inline Gate gate_of(const std::vector<std::string>& expectations, const std::string& subject = "") {
  Gate gate{.name = "gate.toml", .expectations = {}, .fail_inconclusive = false};
  for (const std::string& text : expectations) {
    ExpectationDraft draft{.that = {.text = text, .file = "gate.toml", .line = 1, .column = 1}};
    if (!subject.empty()) draft.subject = PlacedText{.text = subject, .file = "gate.toml", .line = 2, .column = 9};
    auto expectation = parse_expectation(draft);
    EXPECT_TRUE(expectation) << text << ": " << (expectation ? "" : expectation.error().message);
    if (expectation) gate.expectations.push_back(std::move(*expectation));
  }
  return gate;
}

inline GateVerdict judged(const std::string& expectation, const RunRecord& record,
                          const RunRecord* baseline = nullptr) {
  const Verdict verdict = judge(record);
  return judge_gate(gate_of({expectation}),
                    {.run = record, .verdict = verdict, .baseline = baseline, .baseline_name = "nightly"});
}

// Of the last subject.
inline ExpectationVerdict last(const std::string& expectation, const RunRecord& record,
                               const RunRecord* baseline = nullptr) {
  const GateVerdict verdict = judged(expectation, record, baseline);
  EXPECT_FALSE(verdict.verdicts.empty()) << expectation;
  return verdict.verdicts.empty() ? ExpectationVerdict{} : verdict.verdicts.back();
}

}  // namespace infermeter::test
