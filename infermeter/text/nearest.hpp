// "did you mean …?": the name that was probably meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace infermeter {

// The nearest of `candidates` by edit distance (a swap of neighbours counts once, letters' case does not count), if it
// is near enough to be what was meant: at most a third of the longer name's length. The first one wins a tie. Names of
// more than 64 bytes have no near one.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name,
                                                      const std::vector<std::string>& candidates);

// " (did you mean 'NAME'?)" with the nearest of `candidates`, for the end of a message; nothing if none is near.
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace infermeter
