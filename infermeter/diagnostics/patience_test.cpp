#include "infermeter/diagnostics/patience.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace infermeter::patience_test {
namespace {

// Two tries of one operation, of which each could wait as long as all of it may.
TEST(Patience, WaitsOnceForAllTries) {
  Patience patience({.limit_ms = 15});
  const Patience::Operation whole(patience);
  while (patience.pause()) {
  }
  const Patience::Operation part(patience);
  EXPECT_FALSE(patience.pause());
}

// As a signal comes to another thread. The thread sanitizer looks at this one, too.
TEST(Patience, EndsAtASignal) {
  std::atomic<int> interrupts{1};
  Patience patience({.limit_ms = 60'000, .interrupt = &interrupts});
  const Patience::Operation whole(patience);
  EXPECT_FALSE(patience.pause());
  EXPECT_TRUE(patience.interrupted());
  patience.have_heard(1);
  std::thread signal([&] { ++interrupts; });
  while (patience.pause()) {
  }
  signal.join();
  EXPECT_TRUE(patience.interrupted());
}

}  // namespace
}  // namespace infermeter::patience_test
