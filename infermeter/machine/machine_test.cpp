#include "infermeter/machine/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "infermeter/machine/system_folder.hpp"
#include "infermeter/trial/machine/cgroup.hpp"

namespace infermeter::machine_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// A machine made of files.
class MachineTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            ("machine_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void write_two_core_machine() {
    write("proc/cpuinfo",
          "processor : 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t\t: fpu constant_tsc nonstop_tsc avx2 hypervisor "
          "avx512f\n\nprocessor : 1\nmodel name : Other\n");
    for (const auto* cpu : {"cpu0", "cpu1", "cpu2"}) {
      write(std::string("sys/devices/system/cpu/") + cpu + "/topology/physical_package_id", "0\n");
      // cpu2 is the second thread of cpu0's core.
      write(std::string("sys/devices/system/cpu/") + cpu + "/topology/core_id", cpu == std::string("cpu1") ? "1" : "0");
    }
    write("sys/devices/system/cpu/cpufreq/boost", "1\n");
    write("sys/devices/system/cpu/online", "0-2\n");
    write("sys/devices/system/cpu/smt/active", "1\n");
    write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    write("sys/devices/system/cpu/cpu0/cache/index0/level", "1");
    write("sys/devices/system/cpu/cpu0/cache/index0/type", "Data");
    write("sys/devices/system/cpu/cpu0/cache/index0/size", "48K");
    write("sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0,2");
    write("sys/devices/system/cpu/cpu0/cache/index3/level", "3");
    write("sys/devices/system/cpu/cpu0/cache/index3/type", "Unified");
    write("sys/devices/system/cpu/cpu0/cache/index3/size", "32M");
    write("sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list", "0-2");
    write("sys/devices/system/node/online", "0");
    write("proc/meminfo", "MemTotal: 2000 kB\nMemAvailable:  1000 kB\nSwapTotal: 30 kB\nSwapFree: 10 kB\n");
    write("proc/loadavg", "1.50 0.70 0.30 1/100 1234\n");
    write("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    write("proc/sys/kernel/randomize_va_space", "0\n");
    write("proc/sys/kernel/perf_event_paranoid", "-1\n");
    write("sys/class/dmi/id/sys_vendor", "QEMU\n");
  }

  fs::path root_;
};

TEST_F(MachineTest, ReadsWhatTheFilesSay) {
  write_two_core_machine();
  const Environment machine = read_environment(root_);
  EXPECT_EQ(machine.processor, "Some CPU @ 2 GHz");
  EXPECT_THAT(machine.flags, ElementsAre("avx2", "avx512f"));
  EXPECT_TRUE(machine.invariant_tsc);
  EXPECT_EQ(machine.processors_online, 3);
  EXPECT_EQ(machine.cores, 2);
  EXPECT_EQ(machine.sockets, 1);
  EXPECT_EQ(machine.numa_nodes, 1);
  EXPECT_TRUE(machine.smt_active);
  EXPECT_EQ(machine.governor, "powersave");
  EXPECT_EQ(machine.turbo, true);
  ASSERT_EQ(machine.caches.size(), 2U);
  EXPECT_EQ(machine.caches[0].kind, "L1d");
  EXPECT_EQ(machine.caches[0].size_bytes, 48U * 1024);
  EXPECT_EQ(machine.caches[0].shared_by, 2);
  EXPECT_EQ(machine.caches[1].kind, "L3");
  EXPECT_EQ(machine.caches[1].size_bytes, 32U << 20);
  EXPECT_EQ(machine.memory_total_bytes, 2000U * 1024);
  EXPECT_EQ(machine.memory_available_bytes, 1000U * 1024);
  EXPECT_EQ(machine.swap_used_bytes, 20U * 1024);
  EXPECT_EQ(machine.load_1min, 1.5);
  EXPECT_EQ(machine.distribution, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(machine.aslr, 0);
  EXPECT_EQ(machine.perf_event_paranoid, -1);
  EXPECT_EQ(machine.virtualization, "virtual machine (QEMU)");
  EXPECT_FALSE(machine.quota_processors);
}

TEST_F(MachineTest, AProcessorOfArmIsNamedByItsNumbers) {
  const auto named = [&](const std::string& maker, const std::string& part) {
    write("proc/cpuinfo",
          "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd asimddp i8mm sve2 crc32\nCPU implementer\t: " +
              maker + "\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: " + part + "\nCPU revision\t: 1\n");
    return read_environment(root_).processor;
  };
  EXPECT_EQ(named("0x41", "0xd0c"), "Arm Neoverse N1");
  EXPECT_EQ(named("0x41", "0xfff"), "Arm, implementer 0x41, part 0xfff");
  EXPECT_EQ(named("0x61", "0xd0c"), "Arm, implementer 0x61, part 0xd0c") << "another maker's part of the same number";
  EXPECT_THAT(read_environment(root_).flags, ElementsAre("asimd", "asimddp", "i8mm", "sve2"));
}

TEST_F(MachineTest, ReadsTheQuotaOfBothCgroupVersions) {
  write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(read_environment(root_).quota_processors, 1.5);
  write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_FALSE(read_environment(root_).quota_processors);
  fs::remove(root_ / "sys/fs/cgroup/cpu.max");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(read_environment(root_).quota_processors, 0.5);
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  EXPECT_FALSE(read_environment(root_).quota_processors);
}

TEST_F(MachineTest, TheTightestQuotaOfAllGroupsAboveCounts) {
  write("proc/self/cgroup", "0::/user.slice/app.scope\n");
  write("sys/fs/cgroup/user.slice/app.scope/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/user.slice/cpu.max", "40000 100000\n");
  EXPECT_EQ(read_environment(root_).quota_processors, 0.4);
  write("sys/fs/cgroup/user.slice/app.scope/cpu.max", "20000 100000\n");
  EXPECT_EQ(read_environment(root_).quota_processors, 0.2);
  write("sys/fs/cgroup/cpu.max", "10000 100000\n");
  EXPECT_EQ(read_environment(root_).quota_processors, 0.1);
}

TEST_F(MachineTest, ReadsTheNestedQuotaOfTheFirstVersion) {
  write("proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/a/b/c\n0::/\n");
  write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "150000");
  write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
  write("sys/fs/cgroup/cpu,cpuacct/a/b/c/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu,cpuacct/a/b/c/cpu.cfs_period_us", "100000");
  EXPECT_EQ(read_environment(root_).quota_processors, 1.5);
}

// Inside of a container the path is the host's, and the group itself is mounted at the top.
TEST_F(MachineTest, ReadsTheQuotaOfAContainer) {
  write("proc/self/cgroup", "0::/../../docker/abc\n");
  write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(read_environment(root_).quota_processors, 0.5);
  write("proc/self/cgroup", "0::/docker/abc\n");
  EXPECT_EQ(read_environment(root_).quota_processors, 0.5);
}

TEST(Cgroup, AQuotaLeavesWholeProcessorsAndOneAtLeast) {
  EXPECT_EQ(whole_processors(0.4), 1);
  EXPECT_EQ(whole_processors(1.9), 1);
  EXPECT_EQ(whole_processors(2), 2);
}

TEST_F(MachineTest, LivesWithoutAnyFile) {
  const Environment machine = read_environment(root_);
  EXPECT_EQ(machine.processor, "");
  EXPECT_EQ(machine.memory_total_bytes, 0U);
  EXPECT_FALSE(machine.governor);
  EXPECT_FALSE(machine.load_1min);
  EXPECT_FALSE(machine.infermeter_version.empty());
}

TEST_F(MachineTest, LivesWithFilesOfNonsense) {
  write("proc/cpuinfo", std::string(2 << 20, 'x'));
  write("proc/loadavg", "nan-ish");
  write("sys/devices/system/cpu/online", "7-3,,x");
  write("proc/meminfo", "MemTotal: 99999999999999999999999 kB");
  write("sys/fs/cgroup/cpu.max", "1 0");
  const Environment machine = read_environment(root_);
  EXPECT_EQ(machine.processors_online, 0);
  EXPECT_EQ(machine.memory_total_bytes, 0U);
  EXPECT_FALSE(machine.quota_processors);
}

TEST(Machine, ThisOneHasProcessors) {
  const Environment machine = read_environment();
  EXPECT_GT(machine.processors_usable, 0);
  EXPECT_LE(machine.processors_usable, machine.processors_online);
  EXPECT_GT(machine.memory_total_bytes, std::uint64_t{1} << 28);
  EXPECT_FALSE(machine.kernel.empty());
}

TEST(SystemFolderTest, CountsLists) {
  EXPECT_EQ(count_of_list("0-3,8"), 5);
  EXPECT_EQ(count_of_list("0"), 1);
  EXPECT_EQ(count_of_list(""), 0);
  EXPECT_EQ(count_of_list("3-1"), 0);
}

// A machine that disturbs nothing; each case spoils one thing.
Environment quiet_machine() {
  Environment machine;
  machine.build = "Release, GNU 12.2.0";
  machine.architecture = "x86_64";
  machine.processors_online = machine.processors_usable = 8;
  machine.memory_available_bytes = 16'000'000'000;
  machine.load_1min = 0.1;
  machine.governor = "performance";
  machine.turbo = false;
  machine.aslr = 2;
  machine.invariant_tsc = machine.hardware_counters = machine.seccomp = true;
  machine.landlock_abi = 4;
  return machine;
}

TEST(Examine, FindsNothingOnAQuietMachine) { EXPECT_TRUE(examine(quiet_machine()).empty()); }

struct Spoiled {
  DiagnosticId id;
  void (*spoil)(Environment&);
  const char* figure;
};

class ExamineSpoiled : public testing::TestWithParam<Spoiled> {};

TEST_P(ExamineSpoiled, FindsJustThat) {
  Environment machine = quiet_machine();
  GetParam().spoil(machine);
  const auto findings = examine(machine);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].id, GetParam().id);
  EXPECT_THAT(findings[0].message, HasSubstr(GetParam().figure));
}

INSTANTIATE_TEST_SUITE_P(
    All, ExamineSpoiled,
    testing::Values(
        Spoiled{DiagnosticId::debug_build, [](Environment& m) { m.build = "Debug, GNU 12.2.0"; }, "Debug"},
        Spoiled{DiagnosticId::high_load, [](Environment& m) { m.load_1min = 1.25; }, "1.25"},
        Spoiled{DiagnosticId::swap_in_use, [](Environment& m) { m.swap_used_bytes = 1'500'000'000; }, "1.5 GB"},
        Spoiled{DiagnosticId::low_memory, [](Environment& m) { m.memory_available_bytes = 900'000'000; }, "0.9 GB"},
        Spoiled{DiagnosticId::governor_not_performance, [](Environment& m) { m.governor = "powersave"; }, "powersave"},
        Spoiled{DiagnosticId::few_cores, [](Environment& m) { m.processors_usable = 2; }, "2 of 8"},
        Spoiled{DiagnosticId::turbo_enabled, [](Environment& m) { m.turbo = true; }, "turbo"},
        Spoiled{DiagnosticId::smt_enabled, [](Environment& m) { m.smt_active = true; }, "SMT"},
        Spoiled{DiagnosticId::virtual_machine, [](Environment& m) { m.virtualization = "container"; }, "container"},
        Spoiled{DiagnosticId::aslr_disabled, [](Environment& m) { m.aslr = 0; }, "off"},
        Spoiled{DiagnosticId::clock_not_tsc, [](Environment& m) { m.invariant_tsc = false; }, "time stamp"},
        Spoiled{DiagnosticId::no_hardware_counters,
                [](Environment& m) {
                  m.hardware_counters = false;
                  m.perf_event_paranoid = 4;
                },
                "4"},
        Spoiled{DiagnosticId::no_landlock, [](Environment& m) { m.landlock_abi.reset(); }, "Landlock"},
        Spoiled{DiagnosticId::no_seccomp, [](Environment& m) { m.seccomp = false; }, "seccomp"}));

}  // namespace
}  // namespace infermeter::machine_test
