// Study file: several plans that answer one question together, what is expected of each, and the files that they leave
// (docs/study.md). What the expectations mean, the verdict knows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/gate_file.hpp"

namespace infermeter {

// A counter whose ratio, first subject to another, predicts how many times as good the metric is.
struct PredictionDraft {
  std::string counter{};
  std::string metric = "mean";  // one of --metric's words
};

// One run, or as many as its expectations want.
struct StudyPart {
  std::string name{};   // a plain word, unique in its study
  std::string title{};  // one line for people
  PlanDraft draft{};
  std::vector<ExpectationDraft> expectations{};
  std::optional<PredictionDraft> prediction{};
  bool on_request = false;  // measured only where it is named: --part, or a preset's parts
};

// [[file]]: the report of a part, or of one of its subjects alone.
struct StudyOutput {
  std::string part{};
  std::optional<PlacedText> subject{};  // a label
  std::string json{}, text{};           // names of files; empty: not written
};

struct StudyPreset {
  std::string name{}, about{};
};

struct StudyFile {
  std::string title{}, about{};
  std::vector<StudyPreset> presets{};
  std::vector<StudyPart> parts{};  // with everything that the preset says
  std::vector<StudyOutput> outputs{};
  // Names within the folder of reports; empty: not written.
  std::string summary_text = "summary.txt", summary_json = "summary.json", page = "report.html";
  std::string profiles = "profiling";  // a folder

  // Every file that is named, each once; without the folder of profiles.
  [[nodiscard]] std::vector<std::string> file_names() const;
  // An error where two of them are called the same: to be asked when it is known which parts are measured.
  [[nodiscard]] Result<Done> check_file_names(std::string_view study) const;
  // Leaves out all parts but these, with their files. The error names the nearest that there is.
  [[nodiscard]] Result<Done> leave_only(const std::vector<std::string>& names);
  // Leaves out the parts that are measured on request alone, with their files.
  void leave_out_on_request();
};

// `name` is the file's, in messages. `preset`: one of the file's; empty: none. `base`: what every plan begins with; the
// study's [plan] beats it, a part's own beats that, and the preset's beats both.
[[nodiscard]] Result<StudyFile> study_file_from_toml(std::string_view text, std::string_view name,
                                                     std::string_view preset, const PlanDraft& base);

}  // namespace infermeter
