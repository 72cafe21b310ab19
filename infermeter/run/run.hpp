// run: a plan becomes a record. The library's front door; infermeter.hpp includes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"
#include "infermeter/run/run_context.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// Measures the plan's trials and keeps each in the store as it ends: pilots first, where the plan leaves warm-up or
// iterations open; then all trials, or as many as it takes to answer the plan's question; then leak trials. `resume`:
// the id of an unfinished run, whose plan, models and machine must be the same, and which nobody else is measuring.
// With a plan without subjects it is finished by its own plan, if `check_own_plan` allows that.
[[nodiscard]] Result<RunRecord> run(Plan plan, const RunContext& context, std::optional<std::string> resume = {});

// May the run be finished by the plan that its store has? A store may come from anywhere: code that its plan loads
// (models that are code, libraries, folders of back ends) needs asked.allow_code, and its sandbox must not be weaker
// than asked.sandbox. Variables by which code can come need the whole plan.
[[nodiscard]] Result<Done> check_own_plan(const RunRecord& record, const Plan& asked);

// Of a plan that names none. Short enough to be typed again.
[[nodiscard]] std::uint64_t drawn_seed();

// Was this run made by that plan, wherever its results are kept?
[[nodiscard]] bool is_run_of(const RunRecord& record, Plan plan);

// May the run stand beside what is measured now? Refuses, as a resumed run does, where a model file, the machine,
// infermeter's version or a runtime's version is not the same.
[[nodiscard]] Result<Done> check_unchanged(const RunRecord& record, const RunContext& context);

}  // namespace infermeter
