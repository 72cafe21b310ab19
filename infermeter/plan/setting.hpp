// Settings: every value that a plan file, an INFERMETER_* variable or a flag can give, in one table. A value means the
// same and is refused with the same words wherever it comes from.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/draft.hpp"

namespace infermeter {

struct Setting {
  enum class Shape { one, list, pairs };
  // What a TOML value may be. A number may also be written as a whole number.
  enum class Type { text, integer, number_or_text, integer_or_text, boolean };

  std::string_view key;   // in files; INFERMETER_<KEY> in the environment
  std::string_view flag;  // without dashes; empty: the positional arguments
  Shape shape;
  Type type;
  // Who may say it. infermeter.toml is read because it lies in the current folder, so what says which code is loaded or
  // what is measured may not come from there; a plan file may come with a model, so that it may not vouch for it.
  enum class From { anywhere, plan_file, command_line };
  From from;
  // Sets the draft from texts: exactly one where shape is `one`, any number where it is `list`.
  Result<Done> (*apply)(PlanDraft& draft, std::span<const std::string> values);
  // shape `pairs`: where they are kept.
  Pairs& (*pairs)(PlanDraft& draft);
};

// Pairs that may come without a name: they are every input's then.
[[nodiscard]] constexpr bool may_be_unnamed(const Setting& setting) {
  return setting.key == "distribution" || setting.key == "batch_axis";
}

[[nodiscard]] std::span<const Setting> settings();
[[nodiscard]] const Setting* find_setting(std::string_view key);

// Sets the key from its texts ("name=value" for pairs). The message does not name the key: the caller knows how the
// user wrote it.
[[nodiscard]] Result<Done> apply_setting(const Setting& setting, PlanDraft& draft, std::span<const std::string> values);

// Sets everything that a plan file, or infermeter.toml, says; `name` is used in messages.
enum class TomlKind { plan, ambient };
[[nodiscard]] Result<Done> apply_toml(PlanDraft& draft, std::string_view text, std::string_view name,
                                      TomlKind kind = TomlKind::plan);

}  // namespace infermeter
