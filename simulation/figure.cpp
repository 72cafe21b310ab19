#include "simulation/figure.hpp"

#include <cmath>
#include <utility>

#include "infermeter/diagnostics/check.hpp"
#include "infermeter/stats/summary/moments.hpp"

namespace infermeter::study {
namespace {

constexpr double z = 1.959963984540054;  // of 95 %

}  // namespace

bool Target::exists() const { return std::isfinite(least) || std::isfinite(most); }

bool Figure::clearly_missed() const {
  if (!interval) return !met();
  return interval->high < target.least || interval->low > target.most;
}

const Figure* find(const Block& block, const std::string& what, const std::string& where) {
  for (const Table& table : block.tables) {
    for (const Figure& figure : table.figures) {
      if (figure.what == what && figure.where == where) return &figure;
    }
  }
  return nullptr;
}

Interval wilson_interval(int hits, int runs) {
  INFERMETER_CHECK(runs > 0 && hits >= 0 && hits <= runs);
  const double n = runs;
  const double share = hits / n;
  const double centre = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half_width = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {hits == 0 ? 0 : centre - half_width, hits == runs ? 1 : centre + half_width};
}

Figure rate(std::string what, std::string where, Target target, int hits, int runs) {
  return {.what = std::move(what),
          .where = std::move(where),
          .target = target,
          .measured = static_cast<double>(hits) / runs,
          .interval = wilson_interval(hits, runs),
          .runs = runs};
}

Figure mean(std::string what, std::string where, Target target, Unit unit, const std::vector<double>& values) {
  const Moments moments = moments_of(values);
  const double half_width = z * std::sqrt(moments.variance / static_cast<double>(values.size()));
  return {.what = std::move(what),
          .where = std::move(where),
          .target = target,
          .unit = unit,
          .measured = moments.mean,
          .interval = Interval{moments.mean - half_width, moments.mean + half_width},
          .runs = static_cast<int>(values.size())};
}

}  // namespace infermeter::study
