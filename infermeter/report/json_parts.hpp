// The parts of the JSON report, each an object of docs/schema/run.schema.json.
#pragma once

#include <vector>

#include "infermeter/report/json_writer.hpp"
#include "infermeter/verdict/judge.hpp"

namespace infermeter {

void write_plan(JsonWriter& json, const Plan& plan);
void write_environment(JsonWriter& json, const Environment& environment);
void write_model(JsonWriter& json, const ModelFacts& model);
void write_subject(JsonWriter& json, const Subject& subject, const SubjectVerdict& verdict);
void write_trial(JsonWriter& json, const Samples& trial, bool with_samples);
void write_diagnostics(JsonWriter& json, const std::vector<Diagnostic>& diagnostics);  // with its key

}  // namespace infermeter
