// Workflow commands of GitHub Actions ("Workflow commands for GitHub Actions", GitHub Docs; escapes as its toolkit has
// them: packages/core/src/command.ts).
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "infermeter/report/exchange/exchange.hpp"
#include "infermeter/report/exchange/gate_findings.hpp"
#include "infermeter/report/gate/text.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

std::string encoded(std::string_view text, std::string_view letters) {
  std::string result;
  for (const char c : text) {
    result += letters.find(c) == std::string_view::npos ? std::string(1, c) : fmt::format("%{:02X}", c);
  }
  return result;
}
std::string as_message(std::string_view text) { return encoded(text, "%\r\n"); }
std::string as_property(std::string_view text) { return encoded(text, "%\r\n:,"); }

}  // namespace

std::string render_github(const RunRecord& record, const Gate& gate, const GateVerdict& verdict) {
  std::string text;
  if (!record.finished) text += fmt::format("::warning title=infermeter gate::{}\n", as_message(unfinished_text));
  for (const ExpectationVerdict& one : verdict.verdicts) {
    if (one.outcome == Outcome::pass) continue;
    const PlacedText& place = source_of(gate, one);
    text += fmt::format("::{} file={},", one.outcome == Outcome::fail ? "error" : "warning", as_property(place.file));
    if (place.line > 0) text += fmt::format("line={},", place.line);
    text += fmt::format("title={}::{}\n", as_property(expectation_text(gate, one)),
                        as_message(finding_text(record, gate, one)));
  }
  return text + fmt::format("::notice title=infermeter gate::{}: {}\n", as_message(printable(gate.name, 200)),
                            as_message(counts_text(verdict)));
}

}  // namespace infermeter
