#include "infermeter/report/run_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "infermeter/report/report.hpp"
#include "infermeter/report/row.hpp"

namespace infermeter {

std::string run_line(const RunRecord& record) {
  const Plan& plan = record.plan;
  const std::string length = plan.stopping.iterations
                                 ? counted(*plan.stopping.iterations, "iteration", "iterations")
                                 : format_duration(plan.stopping.duration_s.value_or(0)) + " of iterations";
  return fmt::format("infermeter {}: {}, {} each, {} after {} of warm-up, seed {}", printable(record.id, 60),
                     counted(static_cast<std::int64_t>(plan.subjects.size()), "subject", "subjects"),
                     counted(plan.processes, "process", "processes"), length, plan.stopping.warmup, plan.seed);
}

std::string machine_line(const Environment& environment) {
  std::vector<std::string> parts;
  if (!environment.processor.empty()) parts.push_back(printable(environment.processor, 80));
  if (environment.processors_online > 0) {
    parts.push_back(fmt::format("{} of {} processors", environment.processors_usable, environment.processors_online));
  }
  if (environment.memory_total_bytes > 0) {
    parts.push_back(format_bytes(static_cast<double>(environment.memory_total_bytes)) + " memory");
  }
  if (!environment.distribution.empty()) parts.push_back(printable(environment.distribution, 80));
  if (!environment.kernel.empty()) parts.push_back("kernel " + printable(environment.kernel, 80));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace infermeter
