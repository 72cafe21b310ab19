#include "infermeter/report/load/load_now_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "infermeter/report/numbers/format.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/terminal.hpp"

namespace infermeter {
namespace {

struct LivePart {
  std::string text;
  int rank;  // the highest is left out first; 0 remains
};

std::string joined(const std::vector<LivePart>& parts) {
  std::string text;
  for (const LivePart& part : parts) text += (text.empty() ? "" : ", ") + part.text;
  return text;
}

}  // namespace

std::string load_now_text(const std::string& head, const LoadNow& now, const std::optional<double>& seconds_left,
                          std::size_t width) {
  std::vector<LivePart> parts;
  if (now.rate) parts.push_back({format_rate(*now.rate), 0});
  parts.push_back({fmt::format("{} in flight", now.in_flight), 3});
  if (now.response_p50_s) parts.push_back({"p50 " + format_time(*now.response_p50_s), 4});
  if (now.response_p99_s) parts.push_back({"p99 " + format_time(*now.response_p99_s), 2});
  parts.push_back({counted(now.failed, "error"), now.failed > 0 ? 0 : 5});
  if (seconds_left) parts.push_back({format_duration(*seconds_left) + " left", 1});
  while (display_width(head + joined(parts)) > width) {
    const auto least = std::ranges::max_element(parts, {}, &LivePart::rank);
    if (least->rank == 0) break;
    parts.erase(least);
  }
  return fitted(head + joined(parts), width);
}

}  // namespace infermeter
