// The report document: what the HTML page shows, as JSON (docs/schema/report.schema.json). It holds the JSON reports of
// runs, validations, … as they are, and what people see first: answers, things to mind, a checklist. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "infermeter/fidelity/difference_planes.hpp"
#include "infermeter/report/gate/report.hpp"
#include "infermeter/report/history/report.hpp"
#include "infermeter/report/layers/report.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/report/study/report.hpp"
#include "infermeter/report/validation/report.hpp"
#include "infermeter/report/variants/report.hpp"

namespace infermeter {

// Iterations that a document keeps for its pictures: trials with more are thinned (trial_iterations.hpp), which the
// page says. Figures are always of all.
inline constexpr std::size_t kDrawnIterations = 250'000;

// One report of a document.
struct ReportPart {
  std::string title;         // text from outside: "resnet50: onnxruntime, openvino"
  std::string machine;       // fingerprint of where it was measured; empty: it does not say
  std::string machine_name;  // its processor, as people know it
  std::string json;          // an object, $defs/part of the schema
  std::string text;          // as the console shows it: for readers without JavaScript
};

// options.samples false: without iterations, so that pictures of single ones are left out.
[[nodiscard]] ReportPart run_part(const RunRecord& record, const Verdict& verdict, const RenderOptions& options = {});
[[nodiscard]] ReportPart gate_part(const RunRecord& record, const Verdict& of_run, const Gate& gate,
                                   const GateVerdict& verdict, const RenderOptions& options = {});
// A part of a study: its run, or its gate, with what was predicted.
[[nodiscard]] ReportPart study_part_of_page(const StudiedPart& part, const RenderOptions& options = {});
[[nodiscard]] ReportPart variants_part(const RunRecord& record, const Verdict& verdict, const VariantSet& set,
                                       const RenderOptions& options = {});
[[nodiscard]] ReportPart validation_part(const Validation& validation,
                                         const std::vector<DifferencePicture>& pictures = {});
[[nodiscard]] ReportPart layers_part(const LayersRecord& record);
[[nodiscard]] ReportPart history_part(const HistoryReport& report);

// What stands above the parts, where they have something in common to say: text from outside. Without a title it is
// made of theirs.
struct DocumentHead {
  std::string title{}, about{};
};
[[nodiscard]] std::string render_document(std::span<const ReportPart> parts, const DocumentHead& head = {});

// The document as one page that opens from disk, offline: its own script and style, and nothing from elsewhere.
[[nodiscard]] std::string render_html(std::span<const ReportPart> parts, const DocumentHead& head = {});
[[nodiscard]] inline std::string render_html(const ReportPart& part) { return render_html(std::span(&part, 1)); }

}  // namespace infermeter
