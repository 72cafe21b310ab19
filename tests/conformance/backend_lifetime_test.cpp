// Nothing is left behind: file descriptors, threads, memory.
#include <unistd.h>
#include <algorithm>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "backend_under_test.hpp"

namespace infermeter::backend_lifetime_test {
namespace {

struct LifetimeTest : BackendTest {
  static long count_of(const char* folder) {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  }
  static long descriptors() { return count_of("/proc/self/fd"); }
  static long threads() { return count_of("/proc/self/task"); }
  // The sanitizers keep what was freed: their memory shows nothing.
  static double resident_mib() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#endif
    std::ifstream file("/proc/self/statm");
    long pages = 0;
    file >> pages >> pages;
    return static_cast<double>(pages * sysconf(_SC_PAGESIZE)) / 1048576.0;
  }
  void load_run_close() const {
    const Ready ready = make_ready();
    ASSERT_EQ(run(ready.request).status, IMB_OK);
    ASSERT_EQ(first_output(ready.request).status, IMB_OK);
  }
};

TEST_F(LifetimeTest, LoadingAndClosingOftenLeavesNothing) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 30; ++i) load_run_close();  // caches and pools fill
  const std::chrono::duration<double> each = (std::chrono::steady_clock::now() - begin) / 30;
  const int times = static_cast<int>(std::clamp(4 / each.count(), 100.0, 1000.0));
  const long descriptors_before = descriptors(), threads_before = threads();
  const double memory_before = resident_mib();
  for (int i = 0; i < times; ++i) load_run_close();
  EXPECT_LE(descriptors(), descriptors_before);
  EXPECT_LE(threads(), threads_before);
  EXPECT_LT(resident_mib() - memory_before, 8 + times * 0.03) << "8 MiB for what settles, 30 kB for each time";
}

TEST_F(LifetimeTest, FailedLoadsLeaveNothing) {
  const LoadRequest request = {.options = {{"no_such_option", "1"}}};
  for (int i = 0; i < 20; ++i) ASSERT_NE(load(runtime_, request).status, IMB_OK);
  const long descriptors_before = descriptors(), threads_before = threads();
  for (int i = 0; i < 500; ++i) ASSERT_NE(load(runtime_, request).status, IMB_OK);
  EXPECT_LE(descriptors(), descriptors_before);
  EXPECT_LE(threads(), threads_before);
}

TEST_F(LifetimeTest, RunsLeaveNothing) {
  const Ready ready = make_ready();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(run(ready.request).status, IMB_OK);
  const double memory_before = resident_mib();
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(run(ready.request).status, IMB_OK);
  EXPECT_LT(resident_mib() - memory_before, 8) << "400 bytes for each inference";
}

TEST_F(LifetimeTest, BindsLeaveNothing) {
  const Ready ready = make_ready();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(bind_input(ready.request, 0, ready.input.view()).status, IMB_OK);
  const double memory_before = resident_mib();
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(bind_input(ready.request, 0, ready.input.view()).status, IMB_OK);
  EXPECT_LT(resident_mib() - memory_before, 8) << "400 bytes for each binding";
}

TEST_F(LifetimeTest, SessionsAndRequestsAreClosedInAnyOrder) {
  Ready one = make_ready(1), two = make_ready(2);
  auto extra = create_request(one.session);
  ASSERT_EQ(run(one.request).status, IMB_OK);
  ASSERT_EQ(run(two.request).status, IMB_OK);
  one.request.reset();
  extra.value.reset();
  one.session.reset();
  EXPECT_EQ(run(two.request).status, IMB_OK);
  two.request.reset();
  two.session.reset();
}

TEST_F(LifetimeTest, RuntimeIsClosedWithoutAnythingHavingBeenLoaded) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(open_runtime().status, IMB_OK);
  const long before = descriptors();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(open_runtime().status, IMB_OK);
  EXPECT_LE(descriptors(), before);
}

TEST_F(LifetimeTest, SessionIsClosedUncompiled) { EXPECT_EQ(load(runtime_, {.compile = false}).status, IMB_OK); }

}  // namespace
}  // namespace infermeter::backend_lifetime_test
