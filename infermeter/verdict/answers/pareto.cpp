#include "infermeter/verdict/answers/pareto.hpp"

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {
namespace {

using Point = std::vector<std::optional<ParetoValue>>;

Interval extent(const ParetoValue& value) { return value.exact ? Interval{value.value, value.value} : *value.interval; }

// Can it be told that `a` is better than `b`?
bool is_better(const ParetoValue& a, const ParetoValue& b, bool lower_is_better) {
  const bool reported = (a.exact || a.interval) && (b.exact || b.interval);
  if (!reported) return false;
  const Interval one = extent(a), other = extent(b);
  return lower_is_better ? one.high < other.low : one.low > other.high;
}

// Can it be told that `a` is not worse than `b`, but for what does not matter?
bool is_no_worse(const ParetoValue& a, const ParetoValue& b, bool lower_is_better) {
  if (a.exact && b.exact) return lower_is_better ? a.value <= b.value : a.value >= b.value;
  const bool reported = (a.exact || a.interval) && (b.exact || b.interval);
  if (!reported) return false;
  const Interval one = extent(a), other = extent(b);
  return lower_is_better ? one.high <= other.low * (1 + pareto_margin) : one.low * (1 + pareto_margin) >= other.high;
}

bool dominates(const Point& a, const Point& b, std::span<const bool> lower_is_better) {
  bool better = false;
  for (std::size_t i = 0; i < lower_is_better.size(); ++i) {
    if (!a[i] || !b[i]) continue;
    if (!is_no_worse(*a[i], *b[i], lower_is_better[i])) return false;
    better = better || is_better(*a[i], *b[i], lower_is_better[i]);
  }
  return better;
}

// Has the point every figure that any point has?
bool is_whole(const Point& point, std::span<const Point> points) {
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (point[i]) continue;
    for (const Point& other : points) {
      if (other[i]) return false;
    }
  }
  return true;
}

using Dominance = std::vector<std::vector<bool>>;

// Through others as well (Warshall 1962).
Dominance reachable(Dominance direct) {
  const std::size_t n = direct.size();
  for (std::size_t through = 0; through < n; ++through) {
    for (std::size_t from = 0; from < n; ++from) {
      if (!direct[from][through]) continue;
      for (std::size_t to = 0; to < n; ++to) direct[from][to] = direct[from][to] || direct[through][to];
    }
  }
  return direct;
}

}  // namespace

std::vector<ParetoVerdict> pareto_front(std::span<const bool> lower_is_better, std::span<const Point> points) {
  const std::size_t n = points.size();
  std::vector<bool> placed(n);
  for (std::size_t i = 0; i < n; ++i) {
    INFERMETER_CHECK(points[i].size() == lower_is_better.size());
    bool has_any = false;
    for (const auto& value : points[i]) has_any = has_any || value;
    placed[i] = has_any && is_whole(points[i], points);
  }
  Dominance direct(n, std::vector<bool>(n));
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      direct[a][b] = a != b && placed[a] && placed[b] && dominates(points[a], points[b], lower_is_better);
    }
  }
  const Dominance reach = reachable(direct);
  std::vector<ParetoVerdict> verdicts(n);
  for (std::size_t b = 0; b < n; ++b) {
    if (!placed[b]) continue;
    for (std::size_t a = 0; a < n; ++a) {
      const bool ring = reach[b][a];
      if (direct[a][b] && !ring) verdicts[b].dominated_by.push_back(a);
    }
    verdicts[b].place = verdicts[b].dominated_by.empty() ? ParetoPlace::front : ParetoPlace::dominated;
  }
  return verdicts;
}

}  // namespace infermeter
