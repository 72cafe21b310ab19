// TOML as our files are read: where something stands, what it is called, and the table of a plan wherever it stands.
#pragma once

#include <toml++/toml.h>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/setting.hpp"

namespace infermeter {

// At most 1 MiB; `what` names it in messages: "a plan file".
[[nodiscard]] Result<toml::table> parse_toml(std::string_view text, std::string_view name, std::string_view what);

// "plan.toml:7:3: …"; one line whatever toml++ says.
[[nodiscard]] Error error_at(std::string_view file, const toml::source_position& where, std::string_view message);

[[nodiscard]] std::string_view name_of(toml::node_type type);  // "a string"

// Sets everything that the table says; `name` is the file's.
[[nodiscard]] Result<Done> apply_toml_table(PlanDraft& draft, const toml::table& table, std::string_view name,
                                            TomlKind kind);

}  // namespace infermeter
