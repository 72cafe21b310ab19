// Markdown for pull requests: the answers, then the tables, then what to mind.
#include <fmt/format.h>

#include "infermeter/report/answers.hpp"
#include "infermeter/report/renderers.hpp"
#include "infermeter/report/row.hpp"
#include "infermeter/report/run_line.hpp"

namespace infermeter {
namespace {

// Text that stays text: neither markup nor HTML, nor the mention of a person ("resnet50@openvino") or of an issue.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      case '@': result += "&#64;"; break;
      case '#': result += "&#35;"; break;
      case '\\':
      case '`':
      case '*':
      case '[':
      case ']':
      case '|':
      case '~': result += '\\'; [[fallthrough]];
      default: result += c;
    }
  }
  return result;
}

void table(std::string& text, const RunRecord& record, const Group& group) {
  if (!group.title.empty()) text += "\n### " + escaped(group.title) + "\n";
  text += "\n| Subject | Latency p50 | Speed-up | Throughput | Memory | Size | p99 | Outputs |\n";
  text += "|---|---|---|--:|--:|--:|--:|---|\n";
  for (const auto* subject : group.subjects) {
    const Row row = row_of(record, group, *subject);
    text += '|';
    for (const auto cell : {&Row::label, &Row::latency, &Row::speed_up, &Row::throughput, &Row::memory, &Row::size,
                            &Row::p99, &Row::outputs}) {
      text += ' ' + escaped((row.*cell).text) + " |";
    }
    text += '\n';
  }
}

void notice_list(std::string& text, const Verdict& verdict) {
  const auto all = notices(verdict);
  if (all.empty()) return;
  text += "\n**To mind**\n\n";
  for (const auto& notice : all) {
    for (const auto& message : notice.messages) {
      text += fmt::format("- {} `{}`: {}\n", to_string(notice.severity), to_string(notice.id), escaped(message));
    }
    text += fmt::format("  - {}\n", notice.remedy);
  }
}

}  // namespace

std::string render_markdown(const RunRecord& record, const Verdict& verdict) {
  std::string text = "## " + escaped(run_line(record)) + "\n\n";
  if (!record.finished) text += "⚠ Not finished: what there is so far is shown.\n\n";
  for (const auto& sentence : answers(record, verdict)) {
    text += fmt::format("- {} {}\n", sign_of(sentence.tone), escaped(sentence.text));
  }
  for (const auto& group : groups_of(record, verdict)) table(text, record, group);
  notice_list(text, verdict);
  const std::string machine = machine_line(record.environment);
  if (!machine.empty()) text += "\n" + escaped(machine) + "\n";
  return text;
}

}  // namespace infermeter
