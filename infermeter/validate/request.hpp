// What a validation is to compare, and within which tolerances.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "infermeter/data/data_set.hpp"
#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

// What a user says about tolerances; what is not said is by the coarser executed precision.
struct AskedTolerance {
  std::optional<double> relative{}, absolute{};
};

// So much of inputs, and of outputs, is held at once, or one item of them where that is more.
inline constexpr std::uint64_t kMostValidationBytes = std::uint64_t{512} << 20;

struct ValidationRequest {
  Plan plan;  // of it: two subjects, the first of which is the baseline; data, seed, limits, sandbox, processors
  std::int64_t perturb = 0;  // as in DataOptions
  double noise = 0.01;
  AskedTolerance tolerance{};
  std::vector<std::pair<std::string, AskedTolerance>> by_output{};  // beat the one above
  std::string text{};                    // a file that language models are to predict (use_text); empty: none
  std::int64_t text_tokens = 256;        // of each text that it is made into
  std::optional<double> max_drop{};      // how much the share of right answers may drop; nullopt: it is not judged
  std::optional<double> max_increase{};  // how much the perplexity may increase, likewise
  std::uint64_t most_bytes = kMostValidationBytes;
  // Shows each item with the outputs of both, for pictures of them; may be empty.
  std::function<Result<Done>(std::size_t item, const DataItem& data, const ItemValues& baseline,
                             const ItemValues& candidate)>
      on_outputs{};
};

// So many items where nothing says how many: a synthetic one, and nine of it with noise.
inline constexpr std::int64_t kUsualPerturbed = 10;
// The baseline runs twice on so many items at most.
inline constexpr std::int64_t kAgainItems = 10;

}  // namespace infermeter
