#include "infermeter/worker/profile/process_code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "infermeter/worker/profile/stack_sampler.hpp"

namespace infermeter::process_code_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ProcessCode, ReadsExecutableLinesOnly) {
  const auto code = parse_maps(
      "55d0-55e0 r--p 00000000 fd:01 42                         /usr/bin/x\n"
      "55e0-55f0 r-xp 00001000 fd:01 42                         /usr/bin/x y (deleted)\n"
      "7f00-7f10 rwxp 00000000 00:00 0 \n"
      "7ff0-7ff8 r-xp 00000000 00:00 0                          [vdso]\n"
      "9000-8000 r-xp 00000000 00:00 0\n"
      "nonsense\n"
      "7f00-zz r-xp");
  EXPECT_THAT(code, ElementsAre(MappedCode{.begin = 0x55e0,
                                           .end = 0x55f0,
                                           .file_offset = 0x1000,
                                           .device_major = 0xfd,
                                           .device_minor = 1,
                                           .inode = 42,
                                           .path = "/usr/bin/x y (deleted)"},
                                MappedCode{.begin = 0x7f00, .end = 0x7f10, .path = {}},
                                MappedCode{.begin = 0x7ff0, .end = 0x7ff8, .path = "[vdso]"}));
}

TEST(ProcessCode, FindsItself) {
  const auto here = reinterpret_cast<std::uint64_t>(&parse_maps);
  bool found = false;
  for (const MappedCode& code : read_maps(getpid())) found = found || (code.begin <= here && here < code.end);
  EXPECT_TRUE(found);
  EXPECT_TRUE(read_thread_names(getpid()).contains(static_cast<std::uint32_t>(getpid())));
}

TEST(ProcessCode, IsNothingOfAProcessThatIsNotThere) {
  EXPECT_THAT(read_maps(-1), IsEmpty());
  EXPECT_THAT(read_thread_names(-1), IsEmpty());
}

TEST(MergedCode, TakesTheLaterOfWhatOverlaps) {
  const MappedCode early{.begin = 10, .end = 20, .path = "/early"}, stays{.begin = 40, .end = 50, .path = "/stays"},
      late{.begin = 15, .end = 30, .path = "/late"};
  EXPECT_THAT(merged_code(std::vector{early, stays}, std::vector{late}), ElementsAre(late, stays));
}

}  // namespace
}  // namespace infermeter::process_code_test
