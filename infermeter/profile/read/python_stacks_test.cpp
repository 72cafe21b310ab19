#include "infermeter/profile/read/python_stacks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "infermeter/samples/profile_json.hpp"

namespace infermeter::python_stacks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> symbols(const StackProfile& profile, std::size_t sample) {
  std::vector<std::string> result;
  for (const std::uint32_t frame : profile.samples.at(sample).frames) result.push_back(profile.frames.at(frame).symbol);
  return result;
}

// What py-spy 0.4.3 wrote of a Python worker, paths shortened.
const std::string kPySpy =
    "thread (31415): MainThread;_run_module_as_main (<frozen runpy>:173);_run_code (<frozen runpy>:65);"
    "<module> (infermeter/worker.py:1);main (infermeter/worker.py:12);step (m.py:3);forward (m.py:9) 12\n"
    "thread (31415): MainThread;_run_module_as_main (<frozen runpy>:173);_run_code (<frozen runpy>:65);"
    "<module> (infermeter/worker.py:1);main (infermeter/worker.py:12) 3\n"
    "thread (31416): pool 1;run (threading.py:938);forward (m.py:9) 5\n"
    "thread (31417);lonely (m.py:20) 1\n";

TEST(PythonStacks, OfPySpyNamesThreadsAndLeavesOurOwnFramesOut) {
  const auto read = read_python_stacks(std::vector<ProfileFile>{{"operators.json", "{}"}, {"py_spy.txt", kPySpy}});
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_TRUE(*read);
  const TrialStacks& found = **read;
  EXPECT_EQ(found.method, "py_spy");
  EXPECT_TRUE(found.is_python);
  EXPECT_EQ(found.stacks.unit, "samples");
  EXPECT_THAT(found.stacks.threads, ElementsAre("MainThread", "pool 1", "thread"));
  ASSERT_THAT(found.stacks.samples, SizeIs(3)) << "our own loop is none of the model's";
  EXPECT_THAT(symbols(found.stacks, 0), ElementsAre("step (m.py:3)", "forward (m.py:9)"));
  EXPECT_EQ(found.stacks.samples[0].weight, 12);
  EXPECT_THAT(symbols(found.stacks, 1), ElementsAre("run (threading.py:938)", "forward (m.py:9)"));
  EXPECT_EQ(found.stacks.samples[1].thread, 1U);
  EXPECT_THAT(symbols(found.stacks, 2), ElementsAre("lonely (m.py:20)"));
  // The store takes them.
  EXPECT_TRUE(stacks_from_json(stacks_to_json(found)).ok());
}

TEST(PythonStacks, OfTheProfilersInsideAreSeconds) {
  for (const std::string method : {"cprofile", "pyinstrument"}) {
    const auto read = read_python_stacks(
        std::vector<ProfileFile>{{method + ".txt", "step (m.py:3);<built-in method time.sleep> 0.250000000\n"}});
    ASSERT_TRUE(read.ok() && *read) << method;
    const TrialStacks& found = **read;
    EXPECT_EQ(found.method, method);
    EXPECT_EQ(found.stacks.unit, "s");
    EXPECT_EQ(found.stacks.samples.at(0).weight, 0.25);
    EXPECT_THAT(symbols(found.stacks, 0), ElementsAre("step (m.py:3)", "<built-in method time.sleep>"));
    EXPECT_THAT(found.stacks.threads, ElementsAre("MainThread"));
    EXPECT_THAT(found.detail, HasSubstr("three times as slow"));
    EXPECT_TRUE(stacks_from_json(stacks_to_json(found)).ok());
  }
}

TEST(PythonStacks, AreNoneWhereNoFileIsOfAProfiler) {
  const auto read = read_python_stacks(std::vector<ProfileFile>{{"operators.json", "{}"}});
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(*read);
}

TEST(PythonStacks, AFunctionOfTheUsersThatIsCalledMainStays) {
  const auto read =
      read_python_stacks(std::vector<ProfileFile>{{"cprofile.txt", "main (user.py:1);work (user.py:2) 1\n"}});
  ASSERT_TRUE(read.ok() && *read);
  EXPECT_THAT(symbols((*read)->stacks, 0), ElementsAre("main (user.py:1)", "work (user.py:2)"));
}

TEST(PythonStacks, SaysWhyWhatIsThereCannotBeRead) {
  const auto reported = [](std::string bytes) {
    const auto read = read_python_stacks(std::vector<ProfileFile>{{"py_spy.txt", std::move(bytes)}});
    return read.ok() ? std::string("read") : read.error().message;
  };
  EXPECT_THAT(reported("no weight\n"), HasSubstr("does not end with a weight"));
  EXPECT_THAT(reported("\x1b]0;x\x07 \xff\xfe nan\n"), HasSubstr("does not end with a weight"));
  EXPECT_THAT(reported("thread (1): MainThread;main (infermeter/worker.py:12) 3\n"),
              HasSubstr("no Python code of the model"));
  EXPECT_THAT(reported("thread (1): MainThread 3\n"), HasSubstr("no Python code of the model"));
}

}  // namespace
}  // namespace infermeter::python_stacks_test
