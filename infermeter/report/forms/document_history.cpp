#include "infermeter/report/forms/document_history.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/report/forms/document_part.hpp"
#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/history/parts.hpp"
#include "infermeter/report/history/report.hpp"
#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

// Of all series; empty where they are of several machines, which the history itself tells apart.
MachineName machine_of(const HistoryReport& report) {
  if (report.entries.empty()) return {};
  const std::string& machine = report.entries.front().history.machine;
  const auto is_other = [&](const HistoryEntry& entry) { return entry.history.machine != machine; };
  if (std::ranges::any_of(report.entries, is_other)) return {};
  const auto known = std::ranges::find(report.machines, machine, &MachineName::machine);
  return known == report.machines.end() ? MachineName{.machine = machine, .hostname = {}, .processor = {}} : *known;
}

}  // namespace

ReportPart history_part(const HistoryReport& report) {
  DocumentPart part{.kind = "history",
                    .title = fmt::format("History of {}", metric_name(report.metric)),
                    .outcome = {},
                    .answers = worded_answers(report),
                    .notices = {},
                    .checks = history_checks(report),
                    .recommendations = {}};
  part.outcome = outcome_of(part.checks);
  if (part.answers.empty()) {
    part.answers.push_back(
        {{.topic = AnswerTopic::history, .kind = AnswerKind::not_measured, .tone = Tone::faint}, "there is no series"});
  }
  part.history = [&](JsonWriter& json) { write_history(json, report, true); };
  const MachineName machine = machine_of(report);
  return {.title = part.title,
          .machine = machine.machine,
          .machine_name = printable(machine.processor, 80),
          .json = part_json(part),
          .text = render_history(report, RenderOptions{}.width)};
}

}  // namespace infermeter
