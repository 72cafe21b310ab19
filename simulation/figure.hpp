// What the study finds: measured figures beside what they must be.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "infermeter/stats/summary/summary.hpp"

namespace infermeter::study {

struct Target {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool exists() const;
  [[nodiscard]] bool holds(double value) const { return value >= least && value <= most; }
};
[[nodiscard]] constexpr Target at_most(double most) { return {.most = most}; }
[[nodiscard]] constexpr Target at_least(double least) { return {.least = least}; }

enum class Unit { share, small_share, pairs, count };  // shares are shown in percent, small ones with three decimals

struct Figure {
  std::string what;
  std::string where;  // the noise it was measured in
  Target target;
  Unit unit = Unit::share;
  double measured = 0;
  std::optional<Interval> interval;  // 95 %, of the measured figure: what the number of runs leaves open
  int runs = 0;

  [[nodiscard]] bool met() const { return target.holds(measured); }
  // By more than the number of runs explains.
  [[nodiscard]] bool clearly_missed() const;
};

struct Table {
  std::string caption;
  std::vector<Figure> figures;
  bool across = false;  // one line for each `what`, one column for each `where`
};

struct Block {
  int number = 0;
  std::string title;
  std::string question;  // that it answers
  std::string text;
  std::vector<Table> tables;
};

[[nodiscard]] const Figure* find(const Block& block, const std::string& what, const std::string& where = "");

// The score interval (Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927)
// 209–212): it keeps its coverage at rates near 0 and 1.
[[nodiscard]] Interval wilson_interval(int hits, int runs);

// How often in so many runs.
[[nodiscard]] Figure rate(std::string what, std::string where, Target target, int hits, int runs);
// The mean over runs, with the normal interval.
[[nodiscard]] Figure mean(std::string what, std::string where, Target target, Unit unit,
                          const std::vector<double>& values);

}  // namespace infermeter::study
