#include "infermeter/report/exchange/gate_findings.hpp"

#include <fmt/format.h>

#include "infermeter/report/gate/text.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {

const PlacedText& source_of(const Gate& gate, const ExpectationVerdict& verdict) {
  return gate.expectations.at(verdict.expectation).source;
}

std::string finding_text(const RunRecord& record, const Gate& gate, const ExpectationVerdict& verdict) {
  std::string text = fmt::format("{}, {}: {}", expectation_text(gate, verdict), subject_text(record, verdict),
                                 why_text(gate, verdict));
  for (const std::string& note : verdict.notes) text += "; note: " + printable(note, 1000);
  return text;
}

}  // namespace infermeter
