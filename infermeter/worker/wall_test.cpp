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
#include "infermeter/trial/proc_file.hpp"
#include "infermeter/worker/fake_trial.hpp"
#include "infermeter/worker/output_tail.hpp"
#include "infermeter/worker/plugin.hpp"
#include "infermeter/worker/private_folder.hpp"
#include "infermeter/worker/sandbox.hpp"
#include "infermeter/worker/worker_process.hpp"

namespace infermeter::wall_test {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

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
  EXPECT_EQ(counter(samples, "write_error"), EACCES);
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

// Of the only child of this thread. Our own start returns while exec is still on its way: until then it is empty.
std::string environment_of_child() {
  const std::string pid = read_proc_file("/proc/self/task/" + std::to_string(gettid()) + "/children");
  const std::string path = "/proc/" + pid.substr(0, pid.find(' ')) + "/environ";
  std::string environment;
  for (int i = 0; i < 100'000 && environment.empty(); ++i) environment = read_proc_file(path);
  return environment;
}

TEST(WorkerProcessTest, GetsAnEmptyEnvironmentAndAFolderOfItsOwn) {
  setenv("OMP_NUM_THREADS", "7", 1);
  auto worker = WorkerProcess::start({.program = INFERMETER_WORKER_PROGRAM, .cpus = {}, .seed = 3, .block = -1});
  unsetenv("OMP_NUM_THREADS");
  ASSERT_TRUE(worker.ok());
  const std::string environment = environment_of_child();
  EXPECT_THAT(environment, HasSubstr("ORT_DISABLE_TELEMETRY=1"));
  EXPECT_THAT(environment, HasSubstr("LANG=C.UTF-8"));
  EXPECT_THAT(environment, HasSubstr("HOME=/"));
  EXPECT_THAT(environment, testing::Not(HasSubstr("OMP_NUM_THREADS")));
  EXPECT_THAT(environment, testing::Not(HasSubstr("PATH=")));
}

TEST(RunTrial, SeedsMoveTheStack) {
  std::size_t lengths[2];
  for (const std::uint64_t seed : {1U, 2U}) {
    auto worker = WorkerProcess::start({.program = INFERMETER_WORKER_PROGRAM, .cpus = {}, .seed = seed, .block = -1});
    lengths[seed - 1] = environment_of_child().size();
  }
  EXPECT_NE(lengths[0], lengths[1]);
}

TEST(PrivateFolderTest, OfAKilledOwnerIsDeletedByTheNext) {
  const std::string parent = testing::TempDir() + "abandoned";
  std::filesystem::remove_all(parent);
  std::filesystem::create_directories(parent + "/infermeter-abcdef/deep");
  std::filesystem::create_directories(parent + "/infermeter-notours");
  std::filesystem::create_directory_symlink("/usr", parent + "/infermeter-symlnk");
  setenv("TMPDIR", parent.c_str(), 1);
  auto held = PrivateFolder::create();
  unsetenv("TMPDIR");
  ASSERT_TRUE(held.ok());
  delete_abandoned_folders(parent, 3600);
  EXPECT_TRUE(std::filesystem::exists(parent + "/infermeter-abcdef")) << "too young";
  delete_abandoned_folders(parent, 0);
  EXPECT_FALSE(std::filesystem::exists(parent + "/infermeter-abcdef"));
  EXPECT_TRUE(std::filesystem::exists(parent + "/infermeter-notours"));
  EXPECT_TRUE(std::filesystem::exists(parent + "/infermeter-symlnk"));
  EXPECT_TRUE(std::filesystem::exists(held.value().path())) << "its owner lives";
}

// A launcher in a process of its own that is killed while its worker is busy.
TEST(Orphans, AWorkerDiesWithItsLauncher) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const pid_t launcher = fork();
  if (launcher == 0) {
    TrialJob job = fake_job({{"latency", "constant:1ms"}});
    job.stopping.iterations = 1'000'000;
    TrialHooks hooks = hooks_with();
    hooks.on_progress = [&](const TrialProgress& progress) {
      if (progress.iterations_done == 0) return;
      const std::string children = read_proc_file("/proc/self/task/" + std::to_string(gettid()) + "/children");
      const int worker = std::atoi(children.c_str());
      static_cast<void>(!write(pipes[1], &worker, sizeof worker));
    };
    static_cast<void>(run_trial(fake_launcher(), job, hooks));
    _exit(0);
  }
  int worker = 0;
  ASSERT_EQ(read(pipes[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  const FileDescriptor reading(pipes[0]), writing(pipes[1]);
  const FileDescriptor watched(static_cast<int>(syscall(SYS_pidfd_open, worker, 0)));
  ASSERT_TRUE(static_cast<bool>(watched)) << worker;
  kill(launcher, SIGKILL);
  waitpid(launcher, nullptr, 0);
  pollfd ended{watched.get(), POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 1000), 1) << "the worker outlived its launcher";
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
  // Starting and ending a worker costs some ms; a loop that spins costs all of the 0.6 s.
  EXPECT_LT(seconds(after) - seconds(before), 0.02 + 0.01 * samples.wall_s);
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
  EXPECT_EQ(launcher.value().worker, INFERMETER_WORKER_PROGRAM);
  EXPECT_THAT(launcher.value().plugin_folders, testing::Contains(std::filesystem::path(INFERMETER_FAKE_FOLDER)));
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
