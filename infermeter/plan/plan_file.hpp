// Plan <-> TOML (format: docs/plan.md) and Plan <-> JSON text (as kept in the store).
#pragma once

#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

// `name` is used in messages: "plan.toml:7:3: unknown key 'iteratons' (did you mean 'iterations'?)".
// `base` gives every value that the file does not say.
[[nodiscard]] Result<Plan> plan_from_toml(std::string_view text, std::string_view name, const Plan& base);

// Canonical: the same plan gives the same bytes. `plan_from_json(plan_to_json(p))` equals p.
[[nodiscard]] std::string plan_to_json(const Plan& plan);
[[nodiscard]] Result<Plan> plan_from_json(std::string_view text);

}  // namespace infermeter
