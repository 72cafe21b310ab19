// JUnit XML with the elements and attributes that all its readers know: no schema of it is more than a custom.
#include <fmt/format.h>

#include <limits>
#include <string>
#include <string_view>

#include "infermeter/report/forms/markup.hpp"
#include "infermeter/report/gate/report.hpp"
#include "infermeter/report/gate/text.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/utc_time.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {
namespace {

// XML 1.0 takes no control characters, not even as references: printable() shows them as \xNN first.
std::string in_xml(std::string_view text) { return escaped(printable(text, std::numeric_limits<std::size_t>::max())); }

std::string attribute(std::string_view name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, in_xml(value));
}

// What is common to both: the counts and the time that the trials took.
std::string totals(const RunRecord& record, const GateVerdict& verdict) {
  const std::size_t unfinished = record.finished ? 0 : 1;
  return fmt::format(" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\"",
                     verdict.verdicts.size() + unfinished, verdict.failed, unfinished, wall_s(record.trials));
}

// Local time without a zone is what the format has; ours is UTC.
std::string timestamp(const RunRecord& record) {
  const std::string time = utc_time(record.created_at);
  return time.substr(0, time.find('.'));
}

std::string properties(const RunRecord& record, const GateVerdict& verdict) {
  std::string text = "    <properties>\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    text += fmt::format("      <property{}{}/>\n", attribute("name", name), attribute("value", value));
  };
  add("run", record.id);
  add("machine", machine_fingerprint(record.environment));
  if (!verdict.baseline_run.empty()) {
    add("baseline", verdict.baseline_name);
    add("baseline_run", verdict.baseline_run);
  }
  return text + "    </properties>\n";
}

std::string body(const Gate& gate, const ExpectationVerdict& verdict) {
  std::string text = why_text(gate, verdict);
  for (const std::string& note : verdict.notes) text += "; note: " + note;
  return text;
}

std::string test_case(const RunRecord& record, const Gate& gate, const ExpectationVerdict& verdict) {
  const std::string text = body(gate, verdict);
  std::string inside;
  switch (verdict.outcome) {
    case Outcome::pass: inside = fmt::format("      <system-out>{}</system-out>\n", in_xml(text)); break;
    case Outcome::fail:
      inside = fmt::format("      <failure type=\"fail\"{}>{}</failure>\n",
                           attribute("message", why_text(gate, verdict)), in_xml(text));
      break;
    case Outcome::inconclusive:
      inside = fmt::format("      <skipped{}/>\n", attribute("message", "inconclusive: " + text));
      break;
  }
  return fmt::format("    <testcase{}{}>\n{}    </testcase>\n", attribute("classname", subject_text(record, verdict)),
                     attribute("name", expectation_text(gate, verdict)), inside);
}

// An error, as what is there so far may pass: of an interrupted gate nothing is green.
std::string unfinished_case(const Gate& gate) {
  return fmt::format("    <testcase{}{}>\n      <error type=\"interrupted\"{}/>\n    </testcase>\n",
                     attribute("classname", gate.name), attribute("name", "the run is finished"),
                     attribute("message", unfinished_text));
}

}  // namespace

std::string render_junit(const RunRecord& record, const Gate& gate, const GateVerdict& verdict) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuites name=\"infermeter gate\"{}>\n", totals(record, verdict));
  text += fmt::format("  <testsuite{}{} skipped=\"{}\"{}{}>\n", attribute("name", gate.name), totals(record, verdict),
                      verdict.inconclusive, attribute("timestamp", timestamp(record)),
                      attribute("hostname", record.environment.hostname));
  text += properties(record, verdict);
  if (!record.finished) text += unfinished_case(gate);
  for (const ExpectationVerdict& one : verdict.verdicts) text += test_case(record, gate, one);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace infermeter
