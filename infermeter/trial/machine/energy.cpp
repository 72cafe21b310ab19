#include "infermeter/trial/machine/energy.hpp"

#include <algorithm>
#include <system_error>

#include "infermeter/trial/machine/clock.hpp"
#include "infermeter/trial/machine/proc_file.hpp"

namespace infermeter {
namespace {

// No package draws more: within range / this, a counter begins again once at most.
constexpr double most_power_w = 1000;

// "intel-rapl:0", but not its parts "intel-rapl:0:1"; AMD's packages have this name too.
bool is_zone(const std::string& name) {
  constexpr std::string_view prefix = "intel-rapl:";
  return name.starts_with(prefix) && name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
}

std::optional<std::uint64_t> number_in(const std::string& path) { return number_after(read_proc_file(path), ""); }

}  // namespace

EnergyProbe::EnergyProbe(const std::filesystem::path& root) {
  const std::filesystem::path folder = root / "sys/class/powercap";
  bool refused = false;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!is_zone(entry->path().filename().string())) continue;
    const std::string zone = entry->path().string();
    // Others are the whole platform ("psys"), in which the packages are.
    if (!read_proc_file(zone + "/name").starts_with("package")) continue;
    const auto range = number_in(zone + "/max_energy_range_uj");
    if (range && number_in(zone + "/energy_uj"))
      packages_.push_back({zone + "/energy_uj", *range});
    else
      refused = true;
  }
  if (refused)
    reason_ = "the energy counters below /sys/class/powercap may not be read: only root may, by default";
  else if (packages_.empty())
    reason_ = "this machine shows no energy counters of packages below /sys/class/powercap";
  if (!reason_.empty()) packages_.clear();
  std::ranges::sort(packages_, {}, &Package::counter);
}

EnergyReading EnergyProbe::read() const {
  EnergyReading reading{.at_s = monotonic_s(), .uj = {}};
  for (const Package& package : packages_) {
    const auto uj = number_in(package.counter);
    if (!uj) return {.at_s = reading.at_s, .uj = {}};
    reading.uj.push_back(*uj);
  }
  return reading;
}

EnergyRecord EnergyProbe::between(const EnergyReading& before, const EnergyReading& after) const {
  if (!reason_.empty()) return {.energy_j = {}, .reason = reason_};
  if (before.uj.size() != packages_.size() || after.uj.size() != packages_.size())
    return {.energy_j = {}, .reason = "an energy counter could not be read beside the timed loop"};
  double sum_uj = 0;
  for (std::size_t i = 0; i < packages_.size(); ++i) {
    const auto range_uj = static_cast<double>(packages_[i].range_uj);
    if (range_uj * 1e-6 / most_power_w < after.at_s - before.at_s)
      return {.energy_j = {}, .reason = "the timed loop was so long that an energy counter may have begun again twice"};
    const double drawn_uj = static_cast<double>(after.uj[i]) - static_cast<double>(before.uj[i]);
    sum_uj += drawn_uj < 0 ? drawn_uj + range_uj : drawn_uj;
  }
  return {.energy_j = sum_uj * 1e-6, .reason = {}};
}

}  // namespace infermeter
