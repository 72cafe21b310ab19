#include "infermeter/profile/read/stack_readers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "infermeter/profile/write/trace_writers.hpp"

namespace infermeter::stack_readers_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> symbols(const StackProfile& profile, std::size_t sample) {
  std::vector<std::string> result;
  for (const std::uint32_t frame : profile.samples.at(sample).frames) result.push_back(profile.frames.at(frame).symbol);
  return result;
}

// What perf 6.1 printed.
constexpr std::string_view kCallChains =
    "# captured on    : a day\n"
    "\n"
    "python  6423  3696.635428:    2004008 cpu-clock:u: \n"
    "\t          108263 PyType_GenericAlloc+0xa3 (/usr/bin/python3.11)\n"
    "\n"
    "a long name  6423/6424 [001]  3696.647470:    1000000 cpu-clock:u: \n"
    "\t          12b246 _PyEval_EvalFrameDefault+0x156 (/usr/bin/python3.11)\n"
    "\t    7efc4b96f280 [unknown] ([unknown])\n"
    "\t          950020 ns::f(int, char*)::operator()() const+0x2 (/a/lib (x).so)\n"
    "\t          950021 [unknown] (/usr/lib/libx.so+0x4321)\n"
    "\t          950022 g+0x1 (/usr/lib/libx.so (deleted))\n"
    "\n";

constexpr std::string_view kNoCallChains =
    "              sh  6531  3698.924155:    2004008 cpu-clock:u:      7f8088849149 __strcmp_evex+0x29 "
    "(/usr/libc.so.6)\n"
    "            cafe  6532  3698.938317:    2004008 cpu-clock:u:      7f8088848ce4 [unknown] (/usr/bin/dash)\n"
    "            cafe  6532  3698.938417:    2004008 cpu-clock:u:      7f8088848ce4 main+0x1 (/usr/bin/dash)\n";

constexpr std::string_view kCollapsed = "main;work;multiply (a.cpp:12) 12\nmain;work 3\n\nmain;work 4.5\r\nother 1\n";

TEST(PerfScript, ReadsCallChainsFromTheOutside) {
  const auto profile = parse_perf_script(kCallChains);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  ASSERT_EQ(profile->samples.size(), 2U);
  EXPECT_THAT(profile->threads, ElementsAre("python 6423", "a long name 6424"));
  EXPECT_THAT(symbols(*profile, 0), ElementsAre("PyType_GenericAlloc"));
  EXPECT_THAT(symbols(*profile, 1),
              ElementsAre("g", "", "ns::f(int, char*)::operator()() const", "", "_PyEval_EvalFrameDefault"));
  EXPECT_EQ(profile->frames[profile->samples[1].frames[0]].module, "/usr/lib/libx.so");
  EXPECT_EQ(profile->frames[profile->samples[1].frames[1]],
            (StackFrame{.symbol = "", .module = "/usr/lib/libx.so", .offset = 0x4321}));
  EXPECT_EQ(profile->unit, "s");
  EXPECT_THAT(profile->samples[0].weight, DoubleNear(0.002004008, 1e-12));
  EXPECT_THAT(profile->samples[1].t_s, DoubleNear(3696.647470, 1e-9));
  EXPECT_FALSE(profile->cut);
}

TEST(PerfScript, ReadsLinesWithoutCallChains) {
  const auto profile = parse_perf_script(kNoCallChains);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  ASSERT_EQ(profile->samples.size(), 3U) << "a program's name can be a number too";
  EXPECT_THAT(profile->threads, ElementsAre("sh 6531", "cafe 6532"));
  EXPECT_THAT(symbols(*profile, 0), ElementsAre("__strcmp_evex"));
  EXPECT_THAT(symbols(*profile, 2), ElementsAre("main"));
  EXPECT_EQ(profile->frames[profile->samples[1].frames[0]].module, "/usr/bin/dash");
}

TEST(PerfScript, CountsSamplesWhereThereIsNoPeriodAndEventsWhereTheyAreNoTime) {
  const auto samples = parse_perf_script("a 1 2.5: cycles: \n\t 12 f (x)\n\n");
  ASSERT_TRUE(samples.ok());
  EXPECT_EQ(samples->unit, "samples");
  EXPECT_EQ(samples->samples[0].weight, 1);
  const auto cycles = parse_perf_script("a 1 2.5: 700 cycles: \n\t 12 f (x)\n\n");
  EXPECT_EQ(cycles->unit, "cycles");
  EXPECT_EQ(cycles->samples[0].weight, 700);
}

TEST(PerfScript, RefusesTwoEventsAndWhatIsNoneOfIts) {
  const auto two = parse_perf_script("a 1 2.5: cycles: \n\t 12 f (x)\n\na 1 2.6: instructions: \n\t 12 f (x)\n\n");
  ASSERT_FALSE(two.ok());
  EXPECT_THAT(two.error().message, HasSubstr("'cycles' and 'instructions'"));
  for (const std::string_view foreign : {"", "\n\n", "{\"a\": 1}\n", "main;work 12\n", "\t 12 f (x)\n"}) {
    EXPECT_FALSE(parse_perf_script(foreign).ok()) << foreign;
  }
}

TEST(PerfScript, AnEndWithinASampleIsSaid) {
  const auto profile = parse_perf_script(kCallChains.substr(0, kCallChains.size() - 10));
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->samples.size(), 1U);
  EXPECT_TRUE(profile->cut);
}

TEST(CollapsedStacks, ReadsFramesAndWeights) {
  const auto profile = parse_collapsed_stacks(kCollapsed);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  ASSERT_EQ(profile->samples.size(), 4U);
  EXPECT_THAT(symbols(*profile, 0), ElementsAre("main", "work", "multiply (a.cpp:12)"));
  EXPECT_EQ(profile->samples[0].weight, 12);
  EXPECT_EQ(profile->samples[2].weight, 4.5);
  EXPECT_EQ(profile->frames.size(), 4U) << "equal frames are one";
}

TEST(CollapsedStacks, SaysWhichLineIsWrong) {
  for (const std::string wrong :
       {"main;work", "main 12x", "main -3", "main nan", "main inf", "main 1e3", "12", "main "}) {
    const auto profile = parse_collapsed_stacks("main 1\n" + wrong + "\n");
    ASSERT_FALSE(profile.ok()) << wrong;
    EXPECT_THAT(profile.error().message, HasSubstr("line 2"));
  }
  EXPECT_FALSE(parse_collapsed_stacks("").ok());
  EXPECT_FALSE(parse_collapsed_stacks("main 12").ok()) << "its weight may be cut";
}

TEST(CollapsedStacks, BoundsDepthAndFrames) {
  std::string deep;
  for (std::size_t i = 0; i < kDeepestStack; ++i) deep += "f;";
  EXPECT_THAT(parse_collapsed_stacks(deep + "f 1\n").error().message, HasSubstr("frames"));
  EXPECT_TRUE(parse_collapsed_stacks(deep.substr(0, deep.size() - 1) + " 1\n").ok());
  std::string many;
  for (std::size_t i = 0; i <= kMostStackFrames; ++i) many += std::to_string(i) + " 1\n";
  EXPECT_THAT(parse_collapsed_stacks(many).error().message, HasSubstr("different frames"));
}

TEST(CollapsedStacks, WhatIsReadIsWrittenAgain) {
  const std::string text = "main;work 7\nmain;work;multiply (a.cpp:12) 12\nother 1\n";
  EXPECT_EQ(collapsed_stacks(*parse_collapsed_stacks(text)), text);
  EXPECT_EQ(collapsed_stacks(*parse_perf_script(kNoCallChains)),
            "cafe 6532;[dash] 2004\ncafe 6532;main 2004\nsh 6531;__strcmp_evex 2004\n");
  EXPECT_THAT(collapsed_stacks(*parse_perf_script(kCallChains)), HasSubstr(";g;[libx.so+0x4321];ns::f(int, char*)"));
}

// ---- Damage: whatever the bytes, a profile that can be read through, or one sentence ----

using Read = std::function<Result<StackProfile>(std::string_view)>;

void read(const Read& reader, std::string_view bytes) {
  const auto profile = reader(bytes);
  if (!profile.ok()) {
    EXPECT_FALSE(profile.error().message.empty());
    EXPECT_EQ(profile.error().message.find('\n'), std::string::npos);
    EXPECT_LT(profile.error().message.size(), 1000U);
    return;
  }
  for (const StackSample& sample : profile->samples) {
    ASSERT_GE(sample.weight, 0);
    for (const std::uint32_t frame : sample.frames) ASSERT_LT(frame, profile->frames.size());
    if (!profile->threads.empty()) {
      ASSERT_LT(sample.thread, profile->threads.size());
    }
  }
  EXPECT_LE(collapsed_stacks(*profile).size(), 100 * bytes.size());
}

std::string damaged(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return random() % limit; };
  static const std::vector<std::string> pieces = {
      "\n",    ";", " ",  "(",        ")", "+0x", "/", "[", ":", ".", "\t", "\xff", "99999999999999999999",
      "1e400", "-", "0x", "[unknown]"};
  for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
    const std::size_t at = below(bytes.size());
    switch (below(4)) {
      case 0: bytes[at] = static_cast<char>(below(256)); break;
      case 1: bytes.insert(at, pieces[below(pieces.size())]); break;
      case 2: bytes.erase(at, 1 + below(20)); break;
      default: bytes.insert(at, bytes.substr(below(bytes.size()), below(200))); break;
    }
  }
  return bytes;
}

TEST(StackReaders, AnyDamageIsReadOrRefused) {
  const std::pair<Read, std::string_view> inputs[] = {
      {parse_perf_script, kCallChains}, {parse_perf_script, kNoCallChains}, {parse_collapsed_stacks, kCollapsed}};
  std::mt19937 random(8);
  for (const auto& [reader, whole] : inputs) {
    for (std::size_t size = 0; size < whole.size(); ++size) read(reader, whole.substr(0, size));
    for (int round = 0; round < 1000; ++round) read(reader, damaged(std::string(whole), random));
    for (const auto& [other, bytes] : inputs) read(reader, bytes);
  }
}

}  // namespace
}  // namespace infermeter::stack_readers_test
