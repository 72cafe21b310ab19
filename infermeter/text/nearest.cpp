#include "infermeter/text/nearest.hpp"

#include <algorithm>
#include <array>

#include "infermeter/text/ascii.hpp"

namespace infermeter {
namespace {

constexpr std::size_t longest = 64;

using Row = std::array<std::size_t, longest + 1>;

// Optimal string alignment (Damerau–Levenshtein without substrings edited twice), three rows at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  Row before{};
  Row last{};
  Row row{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lowered(a[i - 1]) == lowered(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && lowered(a[i - 1]) == lowered(b[j - 2]) && lowered(a[i - 2]) == lowered(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > longest) return std::nullopt;
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const auto& candidate : candidates) {
    if (candidate.empty() || candidate.size() > longest) continue;
    const std::size_t d = distance(name, candidate);
    if (d * 3 > std::max(name.size(), candidate.size())) continue;
    if (best == nullptr || d < best_distance) {
      best = &candidate;
      best_distance = d;
    }
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const auto near = nearest_name(name, candidates);
  return near ? " (did you mean '" + *near + "'?)" : "";
}

}  // namespace infermeter
