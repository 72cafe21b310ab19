#include "infermeter/stats/changes/scan_critical_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {
namespace {

struct CriticalValues {
  double n, five_percent, one_percent;
};

// Made by fixtures/make_scan_critical_values.py.
constexpr CriticalValues kTable[] = {
    {6, 2.778, 4.605},    {7, 3.086, 4.753},    {8, 3.175, 4.668},     {9, 3.199, 4.548},   {10, 3.196, 4.439},
    {12, 3.175, 4.262},   {14, 3.156, 4.131},   {17, 3.133, 4.015},    {20, 3.115, 3.932},  {25, 3.095, 3.842},
    {30, 3.091, 3.796},   {40, 3.085, 3.737},   {50, 3.088, 3.712},    {70, 3.100, 3.689},  {100, 3.116, 3.679},
    {150, 3.140, 3.684},  {200, 3.157, 3.693},  {300, 3.186, 3.704},   {500, 3.221, 3.731}, {1000, 3.265, 3.766},
    {2000, 3.307, 3.800}, {5000, 3.358, 3.845}, {10000, 3.390, 3.868},
};

}  // namespace

double scan_critical_value(std::size_t n, double alpha) {
  INFERMETER_CHECK(alpha == 0.01 || alpha == 0.05);
  const auto value_of = [&](const CriticalValues& row) { return alpha == 0.01 ? row.one_percent : row.five_percent; };
  const double length = std::max(static_cast<double>(n), kTable[0].n);
  // Linear in log n; beyond the table its last slope goes on: the maximum over more splits keeps growing.
  const auto* above = std::ranges::find_if(kTable + 1, std::end(kTable) - 1,
                                           [&](const CriticalValues& row) { return row.n >= length; });
  const auto* below = above - 1;
  const double weight = std::log(length / below->n) / std::log(above->n / below->n);
  return value_of(*below) + weight * (value_of(*above) - value_of(*below));
}

}  // namespace infermeter
