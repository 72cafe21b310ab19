// Gate file: what is expected of which run, as it stands in the file (docs/gate.md). What the expectations mean, the
// verdict knows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/draft.hpp"
#include "infermeter/plan/expectation_draft.hpp"

namespace infermeter {

struct GateFile {
  // What is judged. With neither of the two it is a stored run.
  std::optional<std::string> plan_file{};  // as written: relative to the gate file
  bool has_plan = false;                   // a table [plan], which is in the draft
  std::optional<std::string> run{};        // a stored one: an id, the beginning of one, "latest"
  std::optional<std::string> baseline{};   // a name given by `infermeter baseline set`
  bool fail_inconclusive = false;
  std::vector<ExpectationDraft> expectations{};

  [[nodiscard]] bool is_fresh() const { return plan_file || has_plan; }
};

// `name` is the file's, in messages. A table [plan] is put into `draft`.
[[nodiscard]] Result<GateFile> gate_file_from_toml(std::string_view text, std::string_view name, PlanDraft& draft);

}  // namespace infermeter
