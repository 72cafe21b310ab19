// A gate for programs (docs/schema/gate.schema.json).
#include <optional>
#include <string>
#include <string_view>

#include "infermeter/report/gate/renderers.hpp"
#include "infermeter/report/gate/text.hpp"
#include "infermeter/report/run/json_parts.hpp"
#include "infermeter/text/utc_time.hpp"
#include "infermeter/verdict/answers/checklist.hpp"

namespace infermeter {
namespace {

// What the value is compared with; null where the expectation is a yes or no.
void write_bound(JsonWriter& json, const Expectation& expectation) {
  const bool bounded = expectation.has_bound();
  json.member("relation", bounded ? std::optional(std::string(to_string(expectation.relation))) : std::nullopt);
  const bool has_threshold = bounded || expectation.threshold > 0;
  json.member("threshold", has_threshold ? std::optional(expectation.threshold) : std::nullopt);
}

void write_verdict(JsonWriter& json, const RunRecord& record, const Expectation& expectation,
                   const ExpectationVerdict& verdict) {
  json.begin_object();
  json.member("expectation", expectation.source.text);
  json.member("subject", record.plan.subjects.at(static_cast<std::size_t>(verdict.subject)).label);
  json.member("outcome", to_string(verdict.outcome));
  write_bound(json, expectation);
  json.member("unit", unit_of(expectation.dimension));
  json.member("value", verdict.value);
  write_interval(json, "interval", verdict.interval);
  json.member("exact", verdict.exact);
  json.member("n", verdict.n);
  json.member("n_of", verdict.n_of);
  json.member("processes", verdict.processes);
  json.member("reason", verdict.reason);
  json.strings("notes", verdict.notes);
  json.end_object();
}

void write_baseline(JsonWriter& json, const GateVerdict& verdict) {
  json.key("baseline");
  if (verdict.baseline_run.empty()) return json.value(nullptr);
  json.begin_object();
  json.member("name", verdict.baseline_name);
  json.member("run", verdict.baseline_run);
  json.end_object();
}

}  // namespace

void write_gate(JsonWriter& json, const RunRecord& record, const Gate& gate, const GateVerdict& verdict) {
  json.begin_object();
  json.member("schema", "infermeter.gate/1");
  json.member("gate", gate.name);
  json.member("run", record.id);
  json.member("created_at", utc_time(record.created_at));
  json.member("finished", record.finished);
  json.member("machine", machine_fingerprint(record.environment));
  write_baseline(json, verdict);
  json.member("passed", verdict.passed);
  json.member("failed", verdict.failed);
  json.member("inconclusive", verdict.inconclusive);
  json.member("exit_code", verdict.exit_code);
  write_answers(json, worded_answers(record, gate, verdict));
  write_checks(json, checklist(record, gate, verdict));
  json.key("verdicts");
  json.begin_array();
  for (const ExpectationVerdict& one : verdict.verdicts) {
    write_verdict(json, record, gate.expectations.at(one.expectation), one);
  }
  json.end_array();
  json.end_object();
}

std::string render_gate_json(const RunRecord& record, const Gate& gate, const GateVerdict& verdict) {
  JsonWriter json;
  write_gate(json, record, gate, verdict);
  return json.take() + '\n';
}

}  // namespace infermeter
