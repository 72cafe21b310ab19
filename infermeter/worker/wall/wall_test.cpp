// The wall itself: what a worker can reach, what is left of it, and how it ends when its launcher does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "infermeter/data/value_block.hpp"
#include "infermeter/diagnostics/test_paths.hpp"
#include "infermeter/trial/machine/proc_file.hpp"
#include "infermeter/worker/fake_trial.hpp"
#include "infermeter/worker/plugin.hpp"
#include "infermeter/worker/wall/process_tree.hpp"
#include "infermeter/worker/wall/sandbox.hpp"
#include "infermeter/worker/wire/output_tail.hpp"
#include "infermeter/worker/worker_process.hpp"

namespace infermeter::wall_test {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

double counter(const Samples& samples, std::string_view name) {
  for (const Counter& counter : samples.counters)
    if (counter.name == name) return counter.value;
  ADD_FAILURE() << "no counter " << name << ": " << samples.message;
  return -1;
}

Samples run_with(Sandbox sandbox, Pairs options) {
  TrialJob job = fake_job(std::move(options));
  job.subject.device = "cpu";
  job.sandbox = sandbox;
  return run_trial(fake_launcher(), job, hooks_with()).samples;
}

TEST(SandboxTest, KeepsFilesNetworkAndProgramsAway) {
  if (landlock_abi() == 0) GTEST_SKIP() << "no Landlock here";
  const Samples samples = run_with(Sandbox::strict, {{"read_file", "/etc/passwd"},
                                                     {"write_file", "/var/tmp/infermeter-wall-test"},
                                                     {"connect", "true"},
                                                     {"execute", "true"}});
  EXPECT_EQ(samples.end, TrialEnd::ok) << samples.message;
  EXPECT_EQ(counter(samples, "read_error"), EACCES);
  EXPECT_THAT(counter(samples, "write_error"), testing::AnyOf(EACCES, EROFS));
  EXPECT_EQ(counter(samples, "connect_error"), EPERM);
  EXPECT_EQ(counter(samples, "execute_error"), EPERM);
}

TEST(SandboxTest, OffKeepsNothingAway) {
  const Samples samples = run_with(Sandbox::off, {{"read_file", "/etc/passwd"}, {"execute", "true"}});
  EXPECT_EQ(counter(samples, "read_error"), 0);
  EXPECT_EQ(counter(samples, "execute_error"), 0);
}

TEST(SandboxTest, LeavesThePrivateFolderAndWhatIsNamed) {
  const std::string file = testing::TempDir() + "wall-test-readable";
  std::ofstream(file) << "x";
  EXPECT_EQ(counter(run_with(Sandbox::strict, {{"write_file", "here"}}), "write_error"), 0);
  EXPECT_EQ(counter(run_with(Sandbox::strict, {{"read_file", file}}), "read_error"), EACCES);
  TrialJob job = fake_job({{"read_file", file}});
  job.readable = {testing::TempDir()};
  EXPECT_EQ(counter(run_trial(fake_launcher(), job, hooks_with()).samples, "read_error"), 0);
}

// Our own start returns while exec is still on its way: until then it is empty.
std::string environment_of(pid_t process) {
  const std::string path = "/proc/" + std::to_string(process) + "/environ";
  std::string environment;
  for (int i = 0; i < 100'000 && environment.empty(); ++i) environment = read_proc_file(path);
  return environment;
}

TEST(WorkerProcessTest, GetsAnEmptyEnvironmentAndAFolderOfItsOwn) {
  setenv("OMP_NUM_THREADS", "7", 1);
  auto worker = WorkerProcess::start({.program = test::worker_program, .cpus = {}, .seed = 3, .block = -1});
  unsetenv("OMP_NUM_THREADS");
  ASSERT_TRUE(worker.ok());
  const std::string environment = environment_of(worker.value().pid());
  EXPECT_THAT(environment, HasSubstr("ORT_DISABLE_TELEMETRY=1"));
  EXPECT_THAT(environment, HasSubstr("LANG=C.UTF-8"));
  EXPECT_THAT(environment, HasSubstr("HOME=/"));
  EXPECT_THAT(environment, testing::Not(HasSubstr("OMP_NUM_THREADS")));
  EXPECT_THAT(environment, testing::Not(HasSubstr("PATH=")));
}

TEST(RunTrial, GivesTheWorkerTheVariablesOfItsSubject) {
  TrialJob job = fake_job({{"variable", "OMP_WAIT_POLICY"}});
  EXPECT_EQ(run_trial(fake_launcher(), job, hooks_with()).samples.executed_value("variable"), "");
  job.subject.environment = {{"OMP_WAIT_POLICY", "PASSIVE"}};
  EXPECT_EQ(run_trial(fake_launcher(), job, hooks_with()).samples.executed_value("variable"), "PASSIVE");
  job.subject.environment = {{"LANG", "de_DE"}};
  job.subject.options = {{"variable", "LANG"}};
  EXPECT_EQ(run_trial(fake_launcher(), job, hooks_with()).samples.executed_value("variable"), "de_DE");
}

TEST(RunTrial, SeedsMoveTheStack) {
  std::size_t lengths[2];
  for (const std::uint64_t seed : {1U, 2U}) {
    auto worker = WorkerProcess::start({.program = test::worker_program, .cpus = {}, .seed = seed, .block = -1});
    lengths[seed - 1] = environment_of(worker.value().pid()).size();
  }
  EXPECT_NE(lengths[0], lengths[1]);
}

bool ends_by_itself(int process) {
  const FileDescriptor watched(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  if (!watched) return true;
  pollfd ended{watched.get(), POLLIN, 0};
  return poll(&ended, 1, 20'000) == 1;
}

class Children : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Worker, Children, testing::Values("group", "session"));

// A launcher in a process of its own that is killed while its worker is busy.
TEST_P(Children, AndTheWorkerDieWithTheLauncher) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const pid_t launcher = fork();
  if (launcher == 0) {
    TrialJob job = fake_job({{"latency", "constant:1ms"}, {"child", GetParam()}});
    job.stopping.iterations = 1'000'000;
    TrialHooks hooks = hooks_with();
    hooks.on_progress = [&](const TrialProgress& progress) {
      if (progress.iterations_done == 0) return;
      std::vector<pid_t> found = children_of(getpid()).value_or(std::vector<pid_t>());
      for (std::size_t i = 0; i < found.size(); ++i)
        for (const pid_t child : children_of(found[i]).value_or(std::vector<pid_t>())) found.push_back(child);
      found.resize(3);  // the supervisor, the worker and its child
      static_cast<void>(!write(pipes[1], found.data(), found.size() * sizeof found[0]));
    };
    static_cast<void>(run_trial(fake_launcher(), job, hooks));
    _exit(0);
  }
  pid_t processes[3] = {};
  ASSERT_EQ(read(pipes[0], processes, sizeof processes), static_cast<ssize_t>(sizeof processes));
  const FileDescriptor reading(pipes[0]), writing(pipes[1]);
  kill(launcher, SIGKILL);
  waitpid(launcher, nullptr, 0);
  for (const pid_t process : processes) {
    EXPECT_GT(process, 1);
    EXPECT_TRUE(ends_by_itself(process)) << "a process outlived its launcher";
  }
}

TEST_P(Children, EndWithTheWorker) {
  const Samples samples = run_with(Sandbox::automatic, {{"child", GetParam()}});
  ASSERT_EQ(samples.end, TrialEnd::ok) << samples.message;
  const auto child = static_cast<pid_t>(counter(samples, "child"));
  ASSERT_GT(child, 1);
  EXPECT_EQ(kill(child, 0), -1) << "it outlived its worker";
}

TEST_P(Children, CountForTheMemoryLimit) {
  TrialJob job = fake_job({{"latency", "constant:1ms"}, {"child", GetParam()}, {"child_memory", "300MB"}});
  job.stopping.iterations = 100'000;
  job.limits.memory_limit_bytes = 200'000'000;
  const Samples samples = run_trial(fake_launcher(), job, hooks_with()).samples;
  EXPECT_EQ(samples.end, TrialEnd::out_of_memory);
  EXPECT_THAT(samples.message, HasSubstr("the limit is 200 MB"));
  // Page tables count for the limit and are no resident memory; the worker alone has far less than this.
  EXPECT_GT(samples.memory_timeline.back().rss_bytes, 150'000'000U);
}

// What a child has inherited and not written to is there once.
TEST(ProcessTreeTest, CountsSharedPagesOnceAboveTheLimit) {
  constexpr std::size_t size = 64U << 20U;
  std::vector<char> shared(size, 'x');
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  ProcessTree tree(getpid(), -1);
  ASSERT_THAT(tree.descendants(), ElementsAre(child));
  const std::uint64_t counted = tree.resident_bytes(0, 0).value_or(0), exact = tree.resident_bytes(0, 1).value_or(0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_GE(counted, exact);
  EXPECT_GE(exact, size);
  EXPECT_LT(exact, ProcessTree(getpid(), -1).resident_bytes(0, 0).value_or(0) + size / 2);
}

double pretended_s = 0;

// No process is made when one ends, nor when an orphan gets another parent.
TEST(ProcessTreeTest, LooksAgainWhereNoProcessWasMade) {
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  ProcessTree tree(getpid(), -1, {}, [] { return pretended_s; });
  ASSERT_THAT(tree.descendants(), ElementsAre(child));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  pretended_s += 0.3;
  EXPECT_THAT(tree.descendants(), IsEmpty());
}

TEST(SeldomSumTest, IsTakenForTwoPercentOfTheTimeUnlessALimitCouldBePassed) {
  SeldomSum sum([] { return pretended_s; });
  int taken = 0;
  const auto take = [&] {
    ++taken;
    pretended_s += 0.004;
    return std::uint64_t{100};
  };
  EXPECT_EQ(sum.at(150, 0, take), 100U);
  pretended_s += 0.05;
  EXPECT_EQ(sum.at(170, 0, take), 120U) << "as much more as is cheap to know";
  EXPECT_EQ(sum.at(140, 0, take), 90U);
  EXPECT_EQ(sum.at(170, 120, take), 120U);
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(sum.at(171, 120, take), 100U) << "it could have passed the limit";
  EXPECT_EQ(taken, 2);
  pretended_s += 0.21;
  EXPECT_EQ(sum.at(171, 0, take), 100U);
  EXPECT_EQ(taken, 3);
}

TEST(RunTrial, OurOwnSamplesAreNotTheSubjectsMemory) {
  // Long enough that the memory is looked at, whatever else the machine does.
  const auto highest = [](std::int64_t iterations, const char* latency) {
    TrialJob job = fake_job({{"latency", latency}, {"work", "sleep"}});
    job.stopping.iterations = iterations;
    const Samples samples = run_trial(fake_launcher(), job, hooks_with()).samples;
    EXPECT_EQ(samples.end, TrialEnd::ok) << samples.message;
    std::uint64_t bytes = 0;
    for (const MemoryPoint& point : samples.memory_timeline) bytes = std::max(bytes, point.rss_bytes);
    return bytes;
  };
  EXPECT_LT(highest(2'000'000, "none"), highest(20, "constant:20ms") + (8U << 20U))
      << "2 million pairs of times take 32 MB";
}

TEST(RunTrial, TheLauncherSleepsWhileTheWorkerMeasures) {
  TrialJob job = fake_job({{"latency", "constant:10ms"}, {"work", "sleep"}});
  job.stopping = {.warmup = 0, .iterations = 60, .duration_s = {}};
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const Samples samples = run_trial(fake_launcher(), job, hooks_with()).samples;
  getrusage(RUSAGE_SELF, &after);
  const auto seconds = [](const rusage& usage) {
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
  };
  EXPECT_EQ(samples.end, TrialEnd::ok);
  EXPECT_LT(seconds(after) - seconds(before), 0.3 * samples.wall_s) << "a loop that spins uses all of it";
}

// It says nothing about the subject: a run stops there and can be resumed.
TEST(RunTrial, WhatTheLauncherCouldNotHaveIsItsOwnError) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const rlimit none{0, files.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const TrialResult result = run_trial(fake_launcher(), fake_job({}), hooks_with());
  setrlimit(RLIMIT_NOFILE, &files);
  ASSERT_TRUE(result.launcher_error.has_value());
  EXPECT_EQ(result.launcher_error->kind, ErrorKind::internal);
  EXPECT_THAT(result.launcher_error->message, HasSubstr("Too many open files"));
  EXPECT_FALSE(run_trial(fake_launcher(), fake_job({{"fail", "load"}}), hooks_with()).launcher_error.has_value());
}

TEST(RunTrial, AWorkerThatIsNotThereIsSaid) {
  Launcher launcher = fake_launcher();
  launcher.worker = "/nowhere/infermeter-worker";
  const Samples samples = run_trial(launcher, fake_job({}), hooks_with()).samples;
  EXPECT_EQ(samples.end, TrialEnd::load_failed);
  EXPECT_THAT(samples.message, HasSubstr("/nowhere/infermeter-worker could not be started"));
  EXPECT_THAT(samples.message, HasSubstr("No such file"));
}

TEST(RunTrial, AProgramThatIsNoWorkerIsARecordToo) {
  Launcher launcher = fake_launcher();
  launcher.worker = "/bin/false";
  EXPECT_EQ(run_trial(launcher, fake_job({}), hooks_with()).samples.end, TrialEnd::crashed);
}

TEST(RunTrial, AnUnknownBackEndIsTheUsersToMend) {
  TrialJob job = fake_job({});
  job.subject.backend = "fkae";
  const Samples samples = run_trial(fake_launcher(), job, hooks_with()).samples;
  EXPECT_TRUE(samples.usage);
  EXPECT_THAT(samples.message, HasSubstr("unknown back end 'fkae' (did you mean 'fake'?)"));
}

TEST(RunTrial, APlugInThatIsNoneIsTheUsersToMend) {
  const std::string folder = testing::TempDir() + "no-plug-in";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/infermeter_backend_fake.so") << "not a library";
  Launcher launcher = fake_launcher();
  launcher.plugin_folders = {folder};
  const Samples samples = run_trial(launcher, fake_job({}), hooks_with()).samples;
  EXPECT_EQ(samples.end, TrialEnd::load_failed);
  EXPECT_TRUE(samples.usage);
  EXPECT_THAT(samples.message, HasSubstr("back end 'fake' cannot be used"));
  EXPECT_THAT(probe_backend(launcher, "fake", "").error, HasSubstr("cannot be used"));
}

TEST(RunTrial, OutputsComeAcrossAsValuesAndAsBytes) {
  TrialJob job = fake_job({});
  job.keep_outputs = true;
  job.time_it = false;
  const TrialResult result = run_trial(fake_launcher(), job, hooks_with(3));
  ASSERT_EQ(result.samples.end, TrialEnd::ok) << result.samples.message;
  ASSERT_EQ(result.output_values.size(), 3U);
  EXPECT_EQ(result.samples.iterations(), 0U);
  EXPECT_EQ(digest(result.output_values[0]), result.samples.output_digest);
  EXPECT_NE(digest(result.output_values[0]), digest(result.output_values[1])) << "a function of the input";
  EXPECT_EQ(result.output_block.size(), block_size(result.output_values));
}

TEST(RunTrial, TheCpuSetIsGivenAndWhatCannotBeGivenIsSaid) {
  TrialJob job = fake_job({});
  job.cpus = {0};
  const Samples samples = run_trial(fake_launcher(), job, hooks_with()).samples;
  EXPECT_EQ(samples.noise.processors, 1);
  EXPECT_FALSE(has(samples, DiagnosticId::affinity_lost));
  job.cpus = {1000};
  EXPECT_TRUE(has(run_trial(fake_launcher(), job, hooks_with()).samples, DiagnosticId::affinity_lost));
}

TEST(RunTrial, DiagnosticsSayWhomTheyAreAbout) {
  const Samples samples = run_fake({{"executed_dtype", "bfloat16"}});
  ASSERT_TRUE(has(samples, DiagnosticId::precision_not_as_asked));
  for (const Diagnostic& diagnostic : samples.diagnostics) EXPECT_EQ(diagnostic.about, "the fake");
}

TEST(Probe, AsksThePlugIn) {
  const BackendInfo info = probe_backend(fake_launcher(), "fake", "");
  EXPECT_EQ(info.error, "");
  EXPECT_EQ(info.name, "fake");
  EXPECT_THAT(info.plugin, HasSubstr("infermeter_backend_fake.so"));
  EXPECT_FALSE(info.options.empty());
  EXPECT_FALSE(info.devices.empty());
  EXPECT_THAT(probe_backend(fake_launcher(), "none", "").error, HasSubstr("unknown back end 'none'"));
}

TEST(Probe, AsksAllOfThem) {
  std::vector<std::string> names;
  for (const BackendInfo& info : probe_backends(fake_launcher())) names.push_back(info.name);
  EXPECT_EQ(names, backend_names(fake_launcher()));
  EXPECT_THAT(names, testing::Contains("fake"));
}

TEST(OutputTailTest, KeepsTheEnd) {
  OutputTail tail;
  for (int i = 0; i < 100'000; ++i) tail.append("0123456789");
  tail.append("the end");
  EXPECT_EQ(tail.text().size(), OutputTail::limit);
  EXPECT_TRUE(tail.text().ends_with("789the end"));
}

TEST(FindLauncher, FindsThisBuild) {
  const auto launcher = find_launcher();
  ASSERT_TRUE(launcher.ok()) << launcher.error().message;
  EXPECT_EQ(launcher.value().worker, test::worker_program);
  EXPECT_THAT(launcher.value().plugin_folders, testing::Contains(std::filesystem::path(test::fake_folder)));
}

TEST(FindLauncher, TakesWhatIsNamed) {
  setenv("INFERMETER_WORKER", "/nowhere/worker", 1);
  EXPECT_THAT(find_launcher().error().message, HasSubstr("/nowhere/worker cannot be executed"));
  unsetenv("INFERMETER_WORKER");
  EXPECT_THAT(find_launcher("/nowhere/plugins").error().message, HasSubstr("'/nowhere/plugins' is not there"));
  setenv("INFERMETER_BACKEND_PATH", "/usr/bin:/usr/share", 1);
  EXPECT_EQ(find_launcher("/usr/lib").value().plugin_folders[0], std::filesystem::canonical("/usr/lib"));
  EXPECT_EQ(find_launcher("/usr/lib").value().plugin_folders[1], std::filesystem::canonical("/usr/bin"));
  unsetenv("INFERMETER_BACKEND_PATH");
}

}  // namespace
}  // namespace infermeter::wall_test
