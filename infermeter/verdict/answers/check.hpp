// Check: a row of the checklist that a reader would go through before trusting a result.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace infermeter {

enum class Outcome { pass, fail, inconclusive };
[[nodiscard]] std::string_view to_string(Outcome outcome);

struct Check {
  std::string name;                // "outputs agree"
  std::optional<Outcome> outcome;  // nullopt: not asked for, or nothing to check
  std::string detail;              // one sentence without an end; labels in it are text from outside
  bool is_caveat = false;          // it shows how far to trust the answer, and decides nothing
};

// Of those that are no caveats: fail if any failed, inconclusive if any is that, pass if any passed; nullopt:
// nothing was checked.
[[nodiscard]] std::optional<Outcome> outcome_of(const std::vector<Check>& checks);

}  // namespace infermeter
