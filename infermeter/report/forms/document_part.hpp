// One part of a document, before it is JSON: what people see first, and what it stands on.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/report/forms/report_part.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/forms/worded_answer.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/overview/overview.hpp"
#include "infermeter/verdict/answers/check.hpp"
#include "infermeter/verdict/gate/gate.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

struct SubjectSentences {
  std::string subject;  // label
  std::vector<Sentence> sentences;
};

struct DocumentPart {
  std::string_view kind;  // "run", "gate", …
  std::string title;
  std::optional<Outcome> outcome;
  Overview overview{};                // its headline: of the answers, unless it has one
  std::vector<WordedAnswer> answers;  // the primary one first
  std::vector<Notice> notices;
  std::vector<Check> checks;
  std::vector<SubjectSentences> recommendations;
  // What it holds of the JSON reports; empty: null.
  using Writer = std::function<void(JsonWriter&)>;
  Writer run{}, figures{}, gate{}, validation{}, difference_pictures{}, variants{}, layers{}, history{}, graphs{};
};

// On one line. `expected_bytes`: so that the buffer grows once.
[[nodiscard]] std::string part_json(const DocumentPart& part, std::size_t expected_bytes = 0);

void write_notices(JsonWriter& json, const std::vector<Notice>& notices);  // with its key

// Fills run, figures, notices, recommendations and the run's part of answers and checks. What it holds points into
// `record` and `verdict`.
[[nodiscard]] DocumentPart document_of_run(const RunRecord& record, const Verdict& verdict,
                                           const RenderOptions& options);
// The same with a gate before it.
[[nodiscard]] DocumentPart document_of_gate(const RunRecord& record, const Verdict& of_run, const Gate& gate,
                                            const GateVerdict& verdict, const RenderOptions& options);
[[nodiscard]] std::size_t expected_bytes(const RunRecord& record, const RenderOptions& options);
[[nodiscard]] ReportPart report_part(const DocumentPart& part, const RunRecord& record, const RenderOptions& options);

// "resnet50, vit_b_16: onnxruntime, openvino"; of two subjects "openvino against onnxruntime: resnet50"
[[nodiscard]] std::string run_title(const RunRecord& record);
// Behind a title: ", 2026-11-21, build-7".
[[nodiscard]] std::string when_and_where(double seconds_since_1970, const std::string& host);

// Distributions of all subjects, ratios and Pareto fronts within their groups.
void write_figures(JsonWriter& json, const RunRecord& record, const Verdict& verdict);
void write_fronts(JsonWriter& json, const RunRecord& record, const Verdict& verdict);  // with their key

}  // namespace infermeter
