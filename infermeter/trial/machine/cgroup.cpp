#include "infermeter/trial/machine/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>
#include <string_view>

#include "infermeter/trial/machine/proc_file.hpp"

namespace infermeter {
namespace {

std::optional<double> leading_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<double> ratio_of(std::optional<double> limit, std::optional<double> period) {
  if (!limit || !period || *limit <= 0 || *period <= 0) return std::nullopt;
  return *limit / *period;
}

// Version 2: "max 100000" or "200000 100000". Version 1: a file each, -1 for none.
std::optional<double> quota_of(const std::string& folder) {
  const std::string both = read_proc_file(folder + "/cpu.max");
  if (const std::size_t blank = both.find(' '); blank != std::string::npos)
    return ratio_of(leading_number(both), leading_number(std::string_view(both).substr(blank + 1)));
  return ratio_of(leading_number(read_proc_file(folder + "/cpu.cfs_quota_us")),
                  leading_number(read_proc_file(folder + "/cpu.cfs_period_us")));
}

// A group outside of what is mounted begins with "/..": only the top can be seen.
void add_upwards(std::vector<std::string>& folders, const std::string& top, std::string group) {
  if (group.find("/..") != std::string::npos) group.clear();
  while (group.size() > 1) {
    folders.push_back(top + group);
    group.erase(group.rfind('/'));
  }
  folders.push_back(top);
}

}  // namespace

std::vector<std::string> processor_groups(const std::filesystem::path& root) {
  const std::string base = (root / "sys/fs/cgroup").string();
  const std::string groups = read_proc_file((root / "proc/self/cgroup").string());
  std::vector<std::string> folders;
  for (std::string_view rest = groups; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos) continue;
    const std::string controllers(line.substr(first + 1, second - first - 1)), group(line.substr(second + 1));
    if (controllers.empty())
      for (const char* const top : {"/unified", ""}) add_upwards(folders, base + top, group);
    if (("," + controllers + ",").find(",cpu,") != std::string::npos)
      for (const std::string& top : {"/" + controllers, std::string("/cpu")}) add_upwards(folders, base + top, group);
  }
  if (folders.empty()) folders = {base, base + "/cpu"};
  return folders;
}

std::optional<double> processor_quota(const std::filesystem::path& root) {
  std::optional<double> tightest;
  for (const std::string& folder : processor_groups(root))
    if (const auto quota = quota_of(folder)) tightest = std::min(tightest.value_or(*quota), *quota);
  return tightest;
}

int whole_processors(double quota) { return static_cast<int>(std::clamp(std::floor(quota), 1.0, double{INT_MAX})); }

}  // namespace infermeter
