#include "infermeter/trial/machine/energy.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace infermeter::energy_test {
namespace {

namespace fs = std::filesystem;

class Energy : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "infermeter-energy-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void zone(const std::string& folder, const std::string& name, const std::string& uj,
            const std::string& range = "262143328850") {
    const fs::path path = root_ / "sys/class/powercap" / folder;
    fs::create_directories(path);
    std::ofstream(path / "name") << name << "\n";
    std::ofstream(path / "max_energy_range_uj") << range << "\n";
    set(folder, uj);
  }
  void set(const std::string& folder, const std::string& uj) {
    std::ofstream(root_ / "sys/class/powercap" / folder / "energy_uj") << uj << "\n";
  }

  fs::path root_;
};

EnergyReading at(double at_s, EnergyReading reading) {
  reading.at_s = at_s;
  return reading;
}

TEST_F(Energy, IsThatOfAllPackagesAndNotOfTheirParts) {
  zone("intel-rapl:0", "package-0", "1000000");
  zone("intel-rapl:1", "package-1", "5000000");
  zone("intel-rapl:0:0", "core", "100");
  zone("intel-rapl:2", "psys", "100");
  zone("intel-rapl-mmio:0", "package-0", "100");  // the same counter by another way
  const EnergyProbe probe(root_);
  const EnergyReading before = at(10, probe.read());
  set("intel-rapl:0", "3500000");
  set("intel-rapl:1", "6000000");
  set("intel-rapl:0:0", "9000100");
  set("intel-rapl:2", "9000100");
  set("intel-rapl-mmio:0", "9000100");
  const EnergyRecord energy = probe.between(before, at(11, probe.read()));
  EXPECT_DOUBLE_EQ(energy.energy_j.value(), 3.5);
  EXPECT_EQ(energy.reason, "");
}

TEST_F(Energy, ACounterBeginsAgainAtItsEnd) {
  zone("intel-rapl:0", "package-0", "262140000000");
  const EnergyProbe probe(root_);
  const EnergyReading before = at(10, probe.read());
  set("intel-rapl:0", "1000000");
  EXPECT_NEAR(probe.between(before, at(11, probe.read())).energy_j.value(), 4.32885, 1e-9);
  // 262 kJ are 262 s at 1 kW.
  EXPECT_TRUE(probe.between(before, at(272, probe.read())).energy_j.has_value());
  const EnergyRecord long_one = probe.between(before, at(273, probe.read()));
  EXPECT_FALSE(long_one.energy_j.has_value());
  EXPECT_NE(long_one.reason.find("begun again twice"), std::string::npos);
}

TEST_F(Energy, WithoutCountersThereIsAReason) {
  const EnergyProbe none(root_);
  const EnergyRecord energy = none.between(none.read(), none.read());
  EXPECT_FALSE(energy.energy_j.has_value());
  EXPECT_EQ(energy.reason, "this machine shows no energy counters of packages below /sys/class/powercap");
  zone("intel-rapl:0", "package-0", "1");
  zone("intel-rapl:1", "package-1", "");  // as what may not be read looks
  const EnergyProbe refused(root_);
  EXPECT_NE(refused.between(refused.read(), refused.read()).reason.find("only root may"), std::string::npos);
}

TEST_F(Energy, ACounterThatGoesAwayIsNotNothing) {
  zone("intel-rapl:0", "package-0", "1");
  const EnergyProbe probe(root_);
  const EnergyReading before = probe.read();
  set("intel-rapl:0", "nonsense");
  const EnergyRecord energy = probe.between(before, probe.read());
  EXPECT_FALSE(energy.energy_j.has_value());
  EXPECT_EQ(energy.reason, "an energy counter could not be read beside the timed loop");
}

}  // namespace
}  // namespace infermeter::energy_test
