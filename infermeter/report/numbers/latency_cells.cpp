#include "infermeter/report/numbers/latency_cells.hpp"

#include <fmt/format.h>

#include "infermeter/report/forms/sentence.hpp"
#include "infermeter/report/numbers/format.hpp"
#include "infermeter/report/numbers/histogram_line.hpp"
#include "infermeter/verdict/judge.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"

namespace infermeter {
namespace {

constexpr std::size_t cells_wide = 8;
constexpr std::size_t least_iterations = 20;  // fewer are no distribution

std::vector<double> pooled_latencies(const RunRecord& record, int subject) {
  std::vector<double> pooled;
  for (const Samples& trial : trials_of(record, subject)) {
    const auto latencies = latencies_s(trial);
    pooled.insert(pooled.end(), latencies.begin(), latencies.end());
  }
  return pooled.size() < least_iterations ? std::vector<double>{} : pooled;
}

std::string legend_of(const HistogramScale& scale, std::size_t above) {
  std::string text = fmt::format("Latencies: all iterations, {} … {}", format_time(scale.low), format_time(scale.high));
  if (above > 0) text += fmt::format("; {} longer {} in the last cell", above, above == 1 ? "one" : "ones");
  return text + '.';
}

}  // namespace

LatencyCells latency_cells(const RunRecord& record, const Group& group) {
  std::vector<std::vector<double>> lists;
  for (const auto* subject : group.subjects) lists.push_back(pooled_latencies(record, subject->subject));
  const auto scale = common_scale(lists);
  if (!scale) return {};
  LatencyCells result;
  std::size_t above = 0;
  for (const auto& list : lists) {
    const std::string line = histogram_line(list, *scale, cells_wide);
    result.cells.push_back(line.empty() ? Cell{"–", Tone::faint} : Cell{line, Tone::plain});
    above += count_above(list, *scale);
  }
  result.legend = legend_of(*scale, above);
  return result;
}

}  // namespace infermeter
