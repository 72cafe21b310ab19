#include "cli/output/doctor_peaks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output/columns.hpp"
#include "infermeter/report/report.hpp"
#include "infermeter/samples/profile_json.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/trial/machine/peaks.hpp"

namespace infermeter {
namespace {

std::string figure(double best, double low, double high, const char* unit) {
  return fmt::format("{:.1f} {} [{:.1f}, {:.1f}]", best * 1e-9, unit, low * 1e-9, high * 1e-9);
}

std::string table_of(const MachinePeaks& peaks) {
  std::vector<std::vector<std::string>> rows;
  for (const ComputePeak& peak : peaks.compute)
    rows.push_back({"  " + peak.dtype, figure(peak.ops_per_s, peak.low, peak.high, "Gop/s"), peak.instructions});
  for (const BandwidthPeak& peak : peaks.bandwidth)
    rows.push_back({"  " + peak.level, figure(peak.bytes_per_s, peak.low, peak.high, "GB/s"),
                    peak.level == "DRAM triad" ? "read and written past the caches" : "read"});
  return columns(rows);
}

}  // namespace

std::vector<MachinePeaks> measure_all_peaks(const Environment& machine, const std::atomic<int>* interrupt) {
  const std::vector<int> processors = processors_by_core();
  std::vector<MachinePeaks> peaks{measure_peaks(processors, 1, machine, interrupt)};
  if (processors.size() > 1)
    peaks.push_back(measure_peaks(processors, static_cast<int>(processors.size()), machine, interrupt));
  return peaks;
}

std::string as_text(const std::vector<MachinePeaks>& all) {
  std::string text;
  for (const MachinePeaks& peaks : all) {
    text += fmt::format("{}What this machine does at best with {} thread{}, with the range of 5 repeats (took {}):\n",
                        text.empty() ? "" : "\n", peaks.threads, peaks.threads == 1 ? "" : "s",
                        format_duration(peaks.seconds));
    text += table_of(peaks);
    for (const std::string& sentence : peaks.missing) text += fmt::format("  missing: {}\n", printable(sentence));
  }
  return text;
}

nlohmann::ordered_json as_json(const std::vector<MachinePeaks>& all) {
  auto list = nlohmann::ordered_json::array();
  for (const MachinePeaks& peaks : all)
    list.push_back(nlohmann::ordered_json::parse(peaks_to_json(peaks), nullptr, false));
  return list;
}

}  // namespace infermeter
