// What a request of a load has to keep to be a good one: "ttft<=200ms tpot<=50ms response<=2s".
#pragma once

#include <optional>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Seconds, each at most. At least one is there.
struct GoodputBounds {
  std::optional<double> ttft_s{}, tpot_s{}, response_s{};

  // Answers have to come piece by piece.
  [[nodiscard]] bool needs_parts() const { return ttft_s || tpot_s; }
};

// Bounds with spaces between them, each of ttft, tpot and response at most once. Spaces around "<=" are taken.
[[nodiscard]] Result<GoodputBounds> goodput_from_string(std::string_view text);

}  // namespace infermeter
