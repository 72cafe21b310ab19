// Study: several runs that answer one question together, each with what was expected of it and what its counters
// predicted. Pure functions of records.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/gate/prediction.hpp"

namespace infermeter {

// One part, measured.
struct StudiedPart {
  std::string name{}, title{};
  RunRecord record{};                  // the last of its runs, which everything is compared with
  std::vector<std::string> earlier{};  // ids of the runs before it that "reproducible" looked at, newest first
  Gate gate{};                         // may expect nothing
  GateVerdict verdict{};
  std::vector<Prediction> predictions{};  // how much faster each subject is, and was to be
};

struct StudyRecord {
  std::string name, preset;  // "imaging", "small"; empty: no preset
  std::string title, about;
  std::vector<StudiedPart> parts;
};

struct StudyPartRequest {
  std::string name{}, title{};
  Gate gate{};
  std::string counter{};                // what predicts the metric; empty: nothing does
  std::string metric = "latency_mean";  // by which its subjects are compared
};
// `runs`: newest first, one at least.
[[nodiscard]] StudiedPart study_part(StudyPartRequest request, std::vector<RunRecord> runs);

// Of a gate, or where nothing was expected of the run, how it went: nullopt where nothing was asked.
[[nodiscard]] std::optional<Outcome> outcome_of(const StudiedPart& part);
// The worst of all parts.
[[nodiscard]] std::optional<Outcome> outcome_of(const StudyRecord& study);

// Of the parts' own codes (GateVerdict::exit_code, Verdict::exit_code) the first of 130, 2, 4, 3, 1, 5, 0.
[[nodiscard]] int exit_code_of(const StudyRecord& study);

// The run as if only this subject had been measured: no question, nothing to compare it with. It keeps its place among
// trials, so that positions are those of the run.
[[nodiscard]] RunRecord only_subject(const RunRecord& run, int subject);

}  // namespace infermeter
