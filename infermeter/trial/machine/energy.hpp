// Energy: what the processor's packages drew over a timed loop, by their own counters (RAPL: Intel SDM vol. 3B 15.10;
// AMD has the same interface), as Linux shows them: Documentation/power/powercap/powercap.rst.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "infermeter/samples/samples.hpp"

namespace infermeter {

struct EnergyReading {
  double at_s = 0;                // monotonic
  std::vector<std::uint64_t> uj;  // of each package; empty: one of them could not be read
};

class EnergyProbe {
 public:
  // Finds the packages below `root`/sys ("/" but in tests).
  explicit EnergyProbe(const std::filesystem::path& root = "/");
  [[nodiscard]] EnergyReading read() const;

  // Joules of all packages together, of everything that ran on them. A counter that went down has begun again at its
  // end; where it may have done so more than once, or was not read, there is a sentence instead.
  [[nodiscard]] EnergyRecord between(const EnergyReading& before, const EnergyReading& after) const;

 private:
  struct Package {
    std::string counter;         // path of energy_uj
    std::uint64_t range_uj = 0;  // max_energy_range_uj
  };
  std::vector<Package> packages_;
  std::string reason_;  // why there is none; empty: there is one
};

}  // namespace infermeter
