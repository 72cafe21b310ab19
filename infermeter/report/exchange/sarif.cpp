// SARIF 2.1.0 (OASIS), as code scanning services read it.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "infermeter/report/exchange/exchange.hpp"
#include "infermeter/report/exchange/gate_findings.hpp"
#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/report/gate/text.hpp"
#include "infermeter/text/hash.hpp"

namespace infermeter {
namespace {

struct SarifWords {
  const char *kind, *level;
};

SarifWords sarif_words(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass: return {"pass", "none"};
    case Outcome::fail: return {"fail", "error"};
    case Outcome::inconclusive: break;
  }
  return {"fail", "warning"};  // of other kinds the level is "none", and services show those nowhere
}

void write_sarif_text(JsonWriter& json, std::string_view key, const std::string& text) {
  json.key(key);
  json.begin_object();
  json.member("text", text);
  json.end_object();
}

std::string sarif_rule_id(std::size_t expectation) { return fmt::format("expectation-{}", expectation + 1); }

// A URI reference: what is no unreserved character of RFC 3986, or a slash, is encoded.
std::string uri_of(std::string_view file) {
  std::string uri;
  for (const char c : file) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return file.starts_with('/') ? "file://" + uri : uri;
}

void write_sarif_rules(JsonWriter& json, const Gate& gate) {
  json.key("rules");
  json.begin_array();
  for (std::size_t i = 0; i < gate.expectations.size(); ++i) {
    json.begin_object();
    json.member("id", sarif_rule_id(i));
    write_sarif_text(json, "shortDescription", gate.expectations[i].source.text);
    json.end_object();
  }
  json.end_array();
}

void write_sarif_location(JsonWriter& json, const PlacedText& place) {
  json.key("locations");
  json.begin_array();
  json.begin_object();
  json.key("physicalLocation");
  json.begin_object();
  json.key("artifactLocation");
  json.begin_object();
  json.member("uri", uri_of(place.file));
  json.end_object();
  if (place.line > 0) {
    json.key("region");
    json.begin_object();
    json.member("startLine", place.line);
    if (place.column > 0) json.member("startColumn", place.column);
    json.end_object();
  }
  json.end_object();
  json.end_object();
  json.end_array();
}

void write_sarif_result(JsonWriter& json, const RunRecord& record, const Gate& gate,
                        const ExpectationVerdict& verdict) {
  const SarifWords words = sarif_words(verdict.outcome);
  const std::string& label = record.plan.subjects.at(static_cast<std::size_t>(verdict.subject)).label;
  json.begin_object();
  json.member("ruleId", sarif_rule_id(verdict.expectation));
  json.member("ruleIndex", static_cast<std::int64_t>(verdict.expectation));
  json.member("kind", words.kind);
  json.member("level", words.level);
  write_sarif_text(json, "message", finding_text(record, gate, verdict));
  write_sarif_location(json, source_of(gate, verdict));
  // By which a service knows it again in the next run: what is expected, and of what.
  json.key("partialFingerprints");
  json.begin_object();
  Fnv1a identity;
  identity.add(source_of(gate, verdict).text);
  identity.add(std::string_view("\0", 1));
  identity.add(label);
  json.member("expectationAndSubject/v1", fmt::format("{:016x}", identity.value()));
  json.end_object();
  json.end_object();
}

// Of an interrupted gate alone: whoever says nothing has looked at everything.
void write_sarif_interruption(JsonWriter& json) {
  json.key("invocations");
  json.begin_array();
  json.begin_object();
  json.member("executionSuccessful", false);
  json.key("toolExecutionNotifications");
  json.begin_array();
  json.begin_object();
  json.member("level", "error");
  write_sarif_text(json, "message", std::string(unfinished_text));
  json.end_object();
  json.end_array();
  json.end_object();
  json.end_array();
}

}  // namespace

std::string render_sarif(const RunRecord& record, const Gate& gate, const GateVerdict& verdict) {
  JsonWriter json;
  json.begin_object();
  json.member("$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json");
  json.member("version", "2.1.0");
  json.key("runs");
  json.begin_array();
  json.begin_object();
  json.key("tool");
  json.begin_object();
  json.key("driver");
  json.begin_object();
  json.member("name", "infermeter");
  json.member("version", record.environment.infermeter_version);
  write_sarif_rules(json, gate);
  json.end_object();
  json.end_object();
  if (!record.finished) write_sarif_interruption(json);
  json.key("automationDetails");
  json.begin_object();
  json.member("id", fmt::format("infermeter gate/{}", record.id));
  json.end_object();
  json.member("columnKind", "unicodeCodePoints");
  json.key("results");
  json.begin_array();
  for (const ExpectationVerdict& one : verdict.verdicts) write_sarif_result(json, record, gate, one);
  json.end_array();
  json.end_object();
  json.end_array();
  json.end_object();
  return json.take() + '\n';
}

}  // namespace infermeter
