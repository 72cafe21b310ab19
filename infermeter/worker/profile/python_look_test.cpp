// py-spy beside a worker: a program of these tests' own in its place, and a sample block that nobody else looks at.
#include "infermeter/worker/profile/python_look.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "infermeter/trial/machine/calibration.hpp"
#include "infermeter/trial/machine/lazy_pages.hpp"
#include "infermeter/worker/fake_trial.hpp"

namespace infermeter::python_look_test {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// What a py-spy does that finds its process: says so, and writes its file when it is interrupted.
constexpr std::string_view kGood = R"(
while [ $# -gt 1 ]; do [ "$1" = --output ] && output=$2; shift; done
trap 'echo "step (m.py:3) 7" > "$output"; exit 0' INT
echo "py-spy> Sampling process 100 times a second. Press Control-C to exit."
while :; do sleep 0.01; done
)";

class PySpyTest : public testing::Test {
 protected:
  PySpyTest()
      : pages_(SampleBlock::bytes_for({.warmup = 0, .timed = 1})),
        block_(SampleBlock::create(pages_.bytes(), {.warmup = 0, .timed = 1}, best_clock(), read_pair(best_clock()))) {
    launcher_.python = folder_.path() / "python";
    job_.profile = true;
    job_.python = PythonProfiler::py_spy;
    result_.samples.begin_s = {0.0};
    result_.samples.end_s = {1.0};
  }

  void install(std::string_view script) {
    const auto program = folder_.path() / "py-spy";
    std::ofstream(program) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  // As the watchdog does it, until the worker has its answer. The worker is this process.
  ExternalProfiler answer_to(PythonLook& look, ExternalProfiler word) {
    auto& external_profiler = block_.header().external_profiler;
    external_profiler = word;
    while (external_profiler == word) {
      look.look(getpid());
      usleep(1000);
    }
    return external_profiler;
  }
  std::string why_not(PythonLook& look) {
    look.conclude(result_);
    EXPECT_THAT(result_.profile_files, IsEmpty());
    if (!has(result_.samples, DiagnosticId::no_python_profile)) return "";
    return result_.samples.diagnostics.back().message;
  }

  PrivateFolder folder_ = PrivateFolder::create().value();
  LazyPages pages_;
  SampleBlock block_;
  Launcher launcher_;
  TrialJob job_;
  TrialResult result_;
};

TEST_F(PySpyTest, LooksFromTheBeginningToTheEndOfTheTimedIterations) {
  install(kGood);
  PythonLook look(launcher_, job_, true, block_);
  EXPECT_EQ(look.profiler(), PythonProfiler::py_spy);
  look.look(getpid());
  EXPECT_EQ(block_.header().external_profiler, ExternalProfiler::none) << "nobody has asked for it yet";
  EXPECT_EQ(answer_to(look, ExternalProfiler::wanted), ExternalProfiler::looking);
  EXPECT_EQ(answer_to(look, ExternalProfiler::dismissed), ExternalProfiler::gone);
  result_.profile_files.push_back({.name = "py_spy.txt", .bytes = "of the worker's own making 1\n"});
  look.conclude(result_);
  ASSERT_THAT(result_.profile_files, SizeIs(1));
  EXPECT_EQ(result_.profile_files[0].bytes, "step (m.py:3) 7\n");
  EXPECT_FALSE(has(result_.samples, DiagnosticId::no_python_profile));
}

TEST_F(PySpyTest, SaysItsOwnWordsWhereItFails) {
  install("echo 'Error: no such thing' >&2; echo >&2; echo 'Caused by:' >&2; echo '    0: a reason' >&2; exit 1\n");
  PythonLook look(launcher_, job_, true, block_);
  EXPECT_EQ(answer_to(look, ExternalProfiler::wanted), ExternalProfiler::gone) << "the worker continues without it";
  EXPECT_EQ(answer_to(look, ExternalProfiler::dismissed), ExternalProfiler::gone)
      << "a word that comes late is answered";
  EXPECT_THAT(why_not(look), HasSubstr("py-spy failed: Error: no such thing, 0: a reason"));
}

TEST_F(PySpyTest, SaysThatItIsNotPermitted) {
  install("echo \"Permission Denied: Try running again with elevated permissions by going 'sudo !!'\"; exit 1\n");
  PythonLook look(launcher_, job_, true, block_);
  EXPECT_EQ(answer_to(look, ExternalProfiler::wanted), ExternalProfiler::gone);
  EXPECT_THAT(why_not(look), AllOf(HasSubstr("ptrace_scope"), testing::Not(HasSubstr("sudo"))));
}

TEST_F(PySpyTest, SaysWhereItDiesOrCannotBegin) {
  install("kill -SEGV $$\n");
  PythonLook dying(launcher_, job_, true, block_);
  EXPECT_EQ(answer_to(dying, ExternalProfiler::wanted), ExternalProfiler::gone);
  EXPECT_THAT(why_not(dying), HasSubstr("ended by signal 11"));
  std::ofstream(folder_.path() / "py-spy") << "#!/nowhere/sh\n";
  PythonLook none(launcher_, job_, true, block_);
  EXPECT_EQ(answer_to(none, ExternalProfiler::wanted), ExternalProfiler::gone);
  EXPECT_THAT(why_not(none), HasSubstr("could not be started"));
}

TEST_F(PySpyTest, KeepsWhatItSawOfAWorkerThatCrashed) {
  install(R"(
while [ $# -gt 1 ]; do case "$1" in --output) output=$2;; --pid) pid=$2;; esac; shift; done
echo "py-spy> Sampling process 100 times a second. Press Control-C to exit."
while kill -0 "$pid" 2>&-; do sleep 0.01; done
echo "step (m.py:3) 2" > "$output"
)");
  const Child worker =
      spawn({.program = "/bin/sleep", .arguments = {"60"}, .environment = {}, .folder = "/", .cpus = {}}).value();
  PythonLook look(launcher_, job_, true, block_);
  block_.header().external_profiler = ExternalProfiler::wanted;
  while (block_.header().external_profiler == ExternalProfiler::wanted) {
    look.look(worker.pid);
    usleep(1000);
  }
  kill(worker.pid, SIGKILL);
  waitpid(worker.pid, nullptr, 0);
  look.conclude(result_);
  ASSERT_THAT(result_.profile_files, SizeIs(1));
  EXPECT_EQ(result_.profile_files[0].bytes, "step (m.py:3) 2\n");
}

TEST_F(PySpyTest, AWorkerThatEndedEarlierIsToldOfAnyway) {
  install(kGood);
  result_.samples.begin_s.clear();
  result_.samples.end_s.clear();
  PythonLook look(launcher_, job_, true, block_);
  EXPECT_EQ(why_not(look), "");
}

TEST_F(PySpyTest, IsSaidWhereItIsNotInstalled) {
  const char* const before = std::getenv("PATH");
  const std::string path = before == nullptr ? "" : before;
  setenv("PATH", "relative:/nonexistent", 1);
  PythonLook look(launcher_, job_, true, block_);
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(look.profiler(), PythonProfiler::off) << "the worker does not wait for it";
  EXPECT_THAT(why_not(look), AllOf(HasSubstr("nor on PATH"), HasSubstr("pip install py-spy")));
}

TEST_F(PySpyTest, IsTakenFromPathWhereItIsNotBesidePython) {
  install(kGood);
  const char* const before = std::getenv("PATH");
  const std::string path = before == nullptr ? "" : before;
  setenv("PATH", (path + ":" + folder_.path().string()).c_str(), 1);
  launcher_.python = "/nowhere/python";
  EXPECT_FALSE(find_py_spy(launcher_).empty());
  setenv("PATH", path.c_str(), 1);
}

TEST(PythonLook, SaysThatABackEndIsNoPython) {
  for (const auto profiler : {PythonProfiler::py_spy, PythonProfiler::cprofile, PythonProfiler::pyinstrument}) {
    TrialJob job = fake_job({{"operators", "Conv:conv1:1ms"}});
    job.profile = true;
    job.python = profiler;
    const TrialResult result = run_trial(fake_launcher(), job, hooks_with());
    EXPECT_EQ(result.samples.end, TrialEnd::ok) << result.samples.message;
    EXPECT_THAT(result.profile_files, SizeIs(1)) << "its operators' own";
    int said = 0;
    for (const Diagnostic& diagnostic : result.samples.diagnostics)
      if (diagnostic.id == DiagnosticId::no_python_profile) {
        EXPECT_THAT(diagnostic.message, HasSubstr("fake is not written in Python"));
        ++said;
      }
    EXPECT_EQ(said, 1);
  }
}

TEST(PythonLook, LooksAtProfileTrialsOnly) {
  TrialJob job = fake_job({});
  job.python = PythonProfiler::py_spy;
  EXPECT_FALSE(has(run_trial(fake_launcher(), job, hooks_with()).samples, DiagnosticId::no_python_profile));
}

}  // namespace
}  // namespace infermeter::python_look_test
