// What a page shows first of a report: one sentence, and the effects that its first chart and its matrix are of.
#pragma once

#include <optional>
#include <vector>

#include "infermeter/report/forms/json_writer.hpp"
#include "infermeter/report/forms/worded_answer.hpp"
#include "infermeter/report/overview/effects.hpp"
#include "infermeter/verdict/since_last.hpp"

namespace infermeter {

struct Overview {
  Headline headline{};
  double margin = 0;              // of the effects
  std::vector<Effect> effects{};  // of runs
  std::optional<SinceLast> since{};
};

[[nodiscard]] Overview overview_of_run(const RunRecord& record, const Verdict& verdict,
                                       const std::vector<WordedAnswer>& answers);

void write_overview(JsonWriter& json, const Overview& overview);  // with its key

}  // namespace infermeter
