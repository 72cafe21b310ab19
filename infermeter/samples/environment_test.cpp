#include "infermeter/samples/environment.hpp"

#include <gtest/gtest.h>

#include <set>

namespace infermeter::environment_test {
namespace {

Environment machine() {
  Environment e;
  e.processor = "AMD EPYC";
  e.architecture = "x86_64";
  e.flags = {"avx2", "avx512f"};
  e.processors_online = 8;
  e.processors_usable = 8;
  e.cores = 8;
  e.sockets = 1;
  e.numa_nodes = 1;
  e.caches = {{"L1d", 49152, 1}, {"L3", 33554432, 8}};
  e.memory_total_bytes = std::uint64_t{16} << 30;
  e.kernel = "6.1.0-18-amd64";
  return e;
}

TEST(MachineFingerprint, ChangesWithWhatMakesMachinesComparable) {
  std::set<std::string> seen = {machine_fingerprint(machine())};
  const auto is_new = [&seen](auto change) {
    Environment e = machine();
    change(e);
    return seen.insert(machine_fingerprint(e)).second;
  };
  EXPECT_TRUE(is_new([](Environment& e) { e.processor = "Intel"; }));
  EXPECT_TRUE(is_new([](Environment& e) { e.architecture = "aarch64"; }));
  EXPECT_TRUE(is_new([](Environment& e) { e.flags.emplace_back("amx_bf16"); }));
  EXPECT_TRUE(is_new([](Environment& e) { e.processors_online = 4; }));
  EXPECT_TRUE(is_new([](Environment& e) { e.processors_usable = 4; }));
  EXPECT_TRUE(is_new([](Environment& e) { e.quota_processors = 2.5; }));
  EXPECT_TRUE(is_new([](Environment& e) { e.cores = 4; }));
  EXPECT_TRUE(is_new([](Environment& e) { e.sockets = 2; }));
  EXPECT_TRUE(is_new([](Environment& e) { e.numa_nodes = 2; }));
  EXPECT_TRUE(is_new([](Environment& e) { e.smt_active = true; }));
  EXPECT_TRUE(is_new([](Environment& e) { e.caches[1].size_bytes *= 2; }));
  EXPECT_TRUE(is_new([](Environment& e) { e.memory_total_bytes *= 2; }));
  EXPECT_TRUE(is_new([](Environment& e) { e.kernel = "6.12.0-amd64"; }));
}

TEST(MachineFingerprint, StaysWhereOnlyTheMomentDiffers) {
  Environment e = machine();
  e.load_1min = 7.5;
  e.memory_available_bytes = 1;
  e.memory_total_bytes -= std::uint64_t{20} << 20;  // a boot that left 20 MiB less
  e.swap_used_bytes = 12;
  e.hostname = "another";
  e.git_commit = "abc";
  e.command = "infermeter run";
  e.governor = "powersave";
  std::swap(e.flags[0], e.flags[1]);
  EXPECT_EQ(machine_fingerprint(e), machine_fingerprint(machine()));
}

TEST(MachineFingerprint, FieldsDoNotRunIntoEachOther) {
  Environment a = machine();
  Environment b = machine();
  a.flags = {"ab", "c"};
  b.flags = {"a", "bc"};
  EXPECT_NE(machine_fingerprint(a), machine_fingerprint(b));
  EXPECT_EQ(machine_fingerprint(a).size(), 16U);
}

}  // namespace
}  // namespace infermeter::environment_test
