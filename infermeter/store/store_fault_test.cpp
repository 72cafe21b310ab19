// What a store must survive: other writers, being killed, full disks, files that are not what they should be.
#include <gmock/gmock.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <thread>

#include "infermeter/store/schema.hpp"
#include "infermeter/store/sqlite.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/store/test_records.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter::store_fault_test {
namespace {

using test::record_named;
using test::TemporaryFolder;
using test::trial_at;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// `body` in a process of its own; what it returns is the exit code.
pid_t start(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  return child;
}

int exit_code_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string error_of(const std::filesystem::path& file, Store::Mode mode) {
  const auto store = Store::open(file, mode);
  return store.ok() ? "it opened" : store.error().message;
}

void run_sql(const std::filesystem::path& file, const char* sql) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &raw), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(raw, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(raw);
  sqlite3_close(raw);
}

void make_store_with_run(const std::filesystem::path& file) {
  auto store = Store::open(file, Store::Mode::write).value();
  ASSERT_TRUE(store.begin_run(record_named("a")).ok());
  ASSERT_TRUE(store.add_trial("a", trial_at(0)).ok());
}

void keep_finished_run(Store& store) {
  RunRecord record = record_named("a");
  ASSERT_TRUE(store.begin_run(record).ok());
  record.trials = {trial_at(0)};
  ASSERT_TRUE(store.add_trial("a", record.trials.front()).ok());
  record.finished = true;
  ASSERT_TRUE(store.finish_run(record).ok());
}

void overwrite(const std::filesystem::path& file, std::streamoff offset, const std::string& bytes) {
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(offset);
  stream << bytes;
}

// What an error says goes to stderr, as a process has no other way to tell.
bool went_well(const Result<Done>& result) {
  if (!result.ok()) std::fprintf(stderr, "%s\n", result.error().message.c_str());
  return result.ok();
}

// One writer of many: a run with four trials.
int write_a_run(const std::filesystem::path& file, int number) {
  auto store = Store::open(file, Store::Mode::write);
  if (!store.ok()) return went_well(store.error()) ? 0 : 1;
  const std::string id = "run-" + std::to_string(number);
  RunRecord record = record_named(id, number);
  if (!went_well(store->begin_run(record))) return 2;
  for (int position = 0; position < 4; ++position) {
    if (!went_well(store->add_trial(id, trial_at(position)))) return 3;
  }
  record.finished = true;
  return went_well(store->finish_run(record)) ? 0 : 4;
}

TEST(StoreFaults, SixteenProcessesWriteOneNewStore) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i) {
    children.push_back(start([&] { return write_a_run(folder / "infermeter.db", i); }));
  }
  for (const pid_t child : children) EXPECT_EQ(exit_code_of(child), 0);
  auto store = Store::open(folder / "infermeter.db", Store::Mode::read).value();
  const auto runs = store.list_runs().value();
  ASSERT_EQ(runs.size(), 16U);
  for (const auto& run : runs) {
    EXPECT_TRUE(run.finished);
    EXPECT_EQ(store.load_run(run.id)->trials.size(), 4U);
  }
}

// Adds trials until it is killed; each position goes through the pipe once its record has been acknowledged.
int add_for_ever(const std::filesystem::path& file, int pipe) {
  auto store = Store::open(file, Store::Mode::write);
  if (!store.ok()) return 1;
  for (int position = 0;; ++position) {
    if (!store->add_trial("a", trial_at(position)).ok()) return 2;
    if (::write(pipe, &position, sizeof position) != sizeof position) return 3;
  }
}

TEST(StoreFaults, BeingKilledLosesNothingAcknowledged) {
  for (const int until : {0, 3, 17, 40}) {
    const TemporaryFolder folder;
    const auto file = folder / "infermeter.db";
    ASSERT_TRUE(Store::open(file, Store::Mode::write)->begin_run(record_named("a")).ok());
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = start([&] { return add_for_ever(file, pipe[1]); });
    ::close(pipe[1]);
    int acknowledged = -1, position = 0;
    while (acknowledged < until && ::read(pipe[0], &position, sizeof position) == sizeof position)
      acknowledged = position;
    ::kill(child, SIGKILL);
    while (::read(pipe[0], &position, sizeof position) == sizeof position) acknowledged = position;
    ::close(pipe[0]);
    EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
    const auto record = Store::open(file, Store::Mode::write)->load_run("a").value();
    ASSERT_GE(static_cast<int>(record.trials.size()), acknowledged + 1);
    ASSERT_LE(static_cast<int>(record.trials.size()), acknowledged + 2);
    for (std::size_t i = 0; i < record.trials.size(); ++i) {
      EXPECT_EQ(record.trials[i].position, static_cast<int>(i));
      EXPECT_EQ(record.trials[i].end_s, trial_at(0).end_s);
    }
  }
}

TEST(StoreFaults, SaysThatThereIsNothingYet) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of(folder / "infermeter.db", Store::Mode::read),
              AllOf(HasSubstr("there is no store"), HasSubstr("infermeter.db"), HasSubstr("--output-dir")));
  EXPECT_FALSE(std::filesystem::exists(folder / "infermeter.db"));
  std::ofstream(folder / "empty.db").flush();
  EXPECT_THAT(error_of(folder / "empty.db", Store::Mode::read), HasSubstr("there is no store"));
  EXPECT_EQ(error_of(folder / "empty.db", Store::Mode::write), "it opened");
}

TEST(StoreFaults, LeavesForeignFilesAlone) {
  const TemporaryFolder folder;
  std::ofstream(folder / "text.db") << std::string(5000, 'x');
  run_sql(folder / "other.db", "CREATE TABLE t (x); INSERT INTO t VALUES (1)");
  const auto before = std::filesystem::last_write_time(folder / "other.db");
  for (const auto mode : {Store::Mode::read, Store::Mode::write}) {
    EXPECT_THAT(error_of(folder / "text.db", mode),
                HasSubstr("is not an infermeter store: it is not an SQLite database"));
    EXPECT_THAT(error_of(folder / "other.db", mode), HasSubstr("is another program's SQLite database"));
    EXPECT_THAT(error_of(folder.path(), mode), HasSubstr("it is a folder"));
  }
  EXPECT_EQ(std::filesystem::last_write_time(folder / "other.db"), before);
}

TEST(StoreFaults, RefusesSchemasThatItDoesNotKnow) {
  const TemporaryFolder folder;
  make_store_with_run(folder / "infermeter.db");
  run_sql(folder / "infermeter.db", "PRAGMA user_version = 99");
  for (const auto mode : {Store::Mode::read, Store::Mode::write}) {
    EXPECT_THAT(error_of(folder / "infermeter.db", mode),
                AllOf(HasSubstr("was written by a newer infermeter (its schema is 99, this one knows 10)")));
  }
  run_sql(folder / "infermeter.db", "PRAGMA user_version = 0");
  for (const auto mode : {Store::Mode::read, Store::Mode::write})
    EXPECT_THAT(error_of(folder / "infermeter.db", mode), HasSubstr("its schema has the version 0, which none has"));
}

TEST(StoreFaults, NamesTheRescueOfADamagedFile) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  make_store_with_run(file);
  overwrite(file, 100, std::string(3000, '\x7f'));
  EXPECT_THAT(error_of(file, Store::Mode::read), AllOf(HasSubstr("is damaged"), HasSubstr(".recover`")));
  std::filesystem::resize_file(file, 5000);
  EXPECT_THAT(error_of(file, Store::Mode::write), AllOf(HasSubstr("is damaged"), HasSubstr(".recover`")));
}

TEST(StoreFaults, SaysWhichRunIsDamaged) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  for (const char* damage :
       {"UPDATE runs SET noise = '{'", "UPDATE trials SET samples = '{'", "UPDATE trials SET end_s = x'00'",
        "UPDATE trials SET end_s = x''", "UPDATE runs SET models = '[{}]'", "UPDATE runs SET plan = '[]'",
        "UPDATE runs SET diagnostics = '[{\"id\":\"no\"}]'"}) {
    std::filesystem::remove(file);
    make_store_with_run(file);
    run_sql(file, damage);
    auto store = Store::open(file, Store::Mode::read).value();
    const auto run = store.load_run("a");
    ASSERT_FALSE(run.ok()) << damage;
    EXPECT_THAT(run.error().message, AllOf(HasSubstr("run a in the store"), HasSubstr("is damaged"))) << damage;
  }
}

// Any byte of the file turned: an error or a record, never a crash.
TEST(StoreFaults, SurvivesBytesThatAreWrong) {
  const TemporaryFolder folder;
  const auto whole = folder / "whole.db", file = folder / "infermeter.db";
  make_store_with_run(whole);
  const std::string bytes = whole_file(whole);
  constexpr std::size_t step = 97;
  for (std::size_t offset = 0; offset < bytes.size(); offset += step) {
    if (bytes.find_first_not_of('\0', offset) >= offset + step) continue;  // room that is free
    std::filesystem::copy_file(whole, file, std::filesystem::copy_options::overwrite_existing);
    overwrite(file, static_cast<std::streamoff>(offset), "\xff\xff\xff");
    auto store = Store::open(file, Store::Mode::read);
    if (!store.ok()) continue;
    static_cast<void>(store->load_run("latest").ok());
    static_cast<void>(store->list_runs().ok());
  }
}

// Root may write anywhere: as nobody, in a process of its own.
int as_nobody(const std::function<int()>& body) {
  return exit_code_of(start([&] {
    if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setresgid(65534, 65534, 65534) != 0 ||
                             ::setresuid(65534, 65534, 65534) != 0)) {
      return 99;
    }
    return body();
  }));
}

// Not where a folder above the temporary one is closed to others.
bool others_can_reach(const TemporaryFolder& folder) {
  ::chmod(folder.path().c_str(), 0755);
  return as_nobody([&] { return ::access(folder.path().c_str(), X_OK) == 0 ? 0 : 1; }) == 0;
}

void forbid_writing(const TemporaryFolder& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) ::chmod(entry.path().c_str(), 0444);
  ::chmod(folder.path().c_str(), 0555);
}

bool says(const std::string& message, const char* part) {
  if (message.find(part) == std::string::npos) std::fprintf(stderr, "instead of '%s': %s\n", part, message.c_str());
  return message.find(part) != std::string::npos;
}

TEST(StoreFaults, ReadsWhereNothingCanBeWritten) {
  const TemporaryFolder folder;
  if (!others_can_reach(folder)) GTEST_SKIP() << "the temporary folder is closed to other users";
  const auto file = folder / "a b?c#%41.db";  // nothing of a path is special
  make_store_with_run(file);
  forbid_writing(folder);
  EXPECT_EQ(as_nobody([&] {
              auto store = Store::open(file, Store::Mode::read);
              if (!store.ok()) return says(store.error().message, "it opened") ? 0 : 1;
              return store->load_run("a")->trials.size() == 1 ? 0 : 2;
            }),
            0);
  EXPECT_EQ(as_nobody([&] { return says(error_of(file, Store::Mode::write), "it is read-only") ? 0 : 1; }), 0);
  EXPECT_EQ(as_nobody([&] {
              return says(error_of(folder / "sub/infermeter.db", Store::Mode::write), "cannot make the folder") ? 0 : 1;
            }),
            0);
  EXPECT_EQ(
      as_nobody([&] { return says(error_of(folder / "new.db", Store::Mode::write), "cannot open the store") ? 0 : 1; }),
      0);
}

TEST(StoreFaults, AnOlderStoreIsCopiedFromWhereNothingCanBeWritten) {
  const TemporaryFolder folder;
  if (!others_can_reach(folder)) GTEST_SKIP() << "the temporary folder is closed to other users";
  const auto file = folder / "infermeter.db";
  run_sql(file,
          whole_file(std::filesystem::path(test::source_dir) / "infermeter/store/fixtures/version_4.sql").c_str());
  forbid_writing(folder);
  EXPECT_EQ(as_nobody([&] {
              return says(error_of(file, Store::Mode::read),
                          "was written by an older infermeter, and cannot be brought up to date where nothing can be "
                          "written: copy its folder")
                         ? 0
                         : 1;
            }),
            0);
}

TEST(StoreFaults, OpensForReadingWhatItCannotWrite) {
  const TemporaryFolder folder;
  if (!others_can_reach(folder)) GTEST_SKIP() << "the temporary folder is closed to other users";
  const auto file = folder / "infermeter.db";
  make_store_with_run(file);
  run_sql(file, "UPDATE runs SET finished = 1, checksum = NULL");  // as if it had no figures yet
  forbid_writing(folder);
  EXPECT_EQ(as_nobody([&] {
              auto store = Store::open(file, Store::Mode::write_if_possible);
              if (!store.ok()) return says(store.error().message, "it opened") ? 0 : 1;
              const auto completion = store->complete_figures();
              if (!completion.ok() || completion->completed != 1) return 2;
              const auto figures = store->figures({.metric = "load_time"});
              if (!figures.ok() || figures->size() != 1) return 3;
              return says(store->set_baseline("main", "a", 1).error().message, "it is read-only") ? 0 : 4;
            }),
            0);
}

TEST(StoreFaults, NeverHidesTheLatestRecordsOfAnUnwritableFolder) {
  const TemporaryFolder folder, copy;
  if (!others_can_reach(copy)) GTEST_SKIP() << "the temporary folder is closed to other users";
  const auto file = folder / "infermeter.db";
  auto store = Store::open(file, Store::Mode::write).value();
  ASSERT_TRUE(store.begin_run(record_named("a")).ok());
  // As a machine leaves it that lost power: records in the log only.
  std::filesystem::copy_file(file, copy / "infermeter.db");
  std::filesystem::copy_file(file.string() + "-wal", copy / "infermeter.db-wal");
  forbid_writing(copy);
  EXPECT_EQ(as_nobody([&] {
              auto read = Store::open(copy / "infermeter.db", Store::Mode::read);
              if (read.ok()) return read->load_run("a").ok() ? 0 : 1;
              return says(read.error().message, "copy its folder to another place") ? 0 : 2;
            }),
            0);
}

TEST(StoreFaults, ReadingLeavesTheFolderAsItWas) {
  const TemporaryFolder folder;
  make_store_with_run(folder / "infermeter.db");
  {
    ASSERT_TRUE(Store::open(folder / "infermeter.db", Store::Mode::read)->load_run("a").ok());
  }
  // The log and its index may stay beside it, empty; a later writer removes them.
  {
    ASSERT_TRUE(Store::open(folder / "infermeter.db", Store::Mode::write).ok());
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

// Adds large trials until it fails; then the store must be whole, and all acknowledged trials in it.
int fill(const std::filesystem::path& file, const char* expected) {
  auto store = Store::open(file, Store::Mode::write);
  if (!store.ok() || !store->begin_run(record_named("a")).ok()) return 1;
  Samples trial = trial_at(0);
  trial.begin_s.assign(20000, 0.5);
  trial.end_s.assign(20000, 0.75);
  for (trial.position = 0; trial.position < 100; ++trial.position) {
    const auto added = store->add_trial("a", trial);
    if (added.ok()) continue;
    if (!says(added.error().message, expected) || added.error().kind != ErrorKind::io) return 2;
    if (!says(added.error().message, file.c_str())) return 3;
    const auto record = store->load_run("a");
    return record.ok() && static_cast<int>(record->trials.size()) == trial.position && trial.position > 0 ? 0 : 4;
  }
  return 5;
}

TEST(StoreFaults, SaysThatTheDiskIsFull) {
  const TemporaryFolder folder;
  const int code = exit_code_of(start([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
    if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=2m") != 0) return 77;
    return fill(folder / "infermeter.db", "the disk is full");
  }));
  if (code == 77) GTEST_SKIP() << "mounting a small file system is not allowed here";
  EXPECT_EQ(code, 0);
}

TEST(StoreFaults, SaysThatWritingFailed) {
  const TemporaryFolder folder;
  const int code = exit_code_of(start([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{2 << 20, 2 << 20};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 77;
    return fill(folder / "infermeter.db", "a record that was being kept is not in it");
  }));
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(Store::open(folder / "infermeter.db", Store::Mode::read)->load_run("a").ok());
}

TEST(StoreFaults, WaitsForOthersAndThenSaysSo) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  make_store_with_run(file);
  const auto holder = SqliteDatabase::open(file, SqliteDatabase::Access::write, {.limit_ms = 0}).value();
  const auto held = Transaction::begin(holder).value();
  const auto other = SqliteDatabase::open(file, SqliteDatabase::Access::write, {.limit_ms = 20}).value();
  const auto begun = Transaction::begin(other);
  ASSERT_FALSE(begun.ok());
  EXPECT_THAT(begun.error().message, AllOf(HasSubstr("is held by another program"), HasSubstr("--output-dir")));
  EXPECT_THAT(begun.error().message, testing::Not(HasSubstr("locked")));
}

TEST(StoreFaults, StopsWaitingAtASignal) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  make_store_with_run(file);
  const auto holder = SqliteDatabase::open(file, SqliteDatabase::Access::write, {}).value();
  const auto held = Transaction::begin(holder).value();
  std::atomic<int> interrupts{1};
  auto store = Store::open(file, Store::Mode::write, &interrupts).value();
  EXPECT_THAT(store.set_baseline("main", "a", 1).error().message, HasSubstr("stopped while it waited for the store"));
  store.have_heard(1);
  std::thread signal([&] { ++interrupts; });
  const auto kept = store.set_baseline("main", "a", 1);
  signal.join();
  ASSERT_FALSE(kept.ok());
  EXPECT_THAT(kept.error().message, HasSubstr("stopped while it waited for the store"));
}

TEST(StoreFaults, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "infermeter.db").c_str(), 0600), 0);
  for (const auto mode : {Store::Mode::read, Store::Mode::write, Store::Mode::write_if_possible}) {
    EXPECT_THAT(error_of(folder / "infermeter.db", mode), AllOf(HasSubstr("it is a FIFO"), HasSubstr("--output-dir")));
    EXPECT_THAT(error_of("/dev/zero", mode), HasSubstr("it is a device"));
    EXPECT_THAT(error_of(folder.path(), mode), HasSubstr("it is a folder"));
  }
  make_store_with_run(folder / "other.db");
  ASSERT_EQ(::mkfifo((folder / "other.db-wal").c_str(), 0600), 0);
  EXPECT_THAT(error_of(folder / "other.db", Store::Mode::read), HasSubstr("its file -wal is a FIFO"));
}

TEST(StoreFaults, RefusesAReadOnlyFileSystemByName) {
  const TemporaryFolder folder;
  const int code = exit_code_of(start([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
    if (::mount("tmpfs", folder.path().c_str(), "tmpfs", MS_RDONLY, "size=1m") != 0) return 77;
    return says(error_of(folder / "infermeter.db", Store::Mode::write), "Read-only file system") ? 0 : 1;
  }));
  if (code == 77) GTEST_SKIP() << "mounting a file system is not allowed here";
  EXPECT_EQ(code, 0);
}

// `damage` is done to the folder between two trials: the second must not be acknowledged.
std::string complaint_after(const std::function<void(const std::filesystem::path& file)>& damage) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  auto store = Store::open(file, Store::Mode::write).value();
  EXPECT_TRUE(store.begin_run(record_named("a")).ok());
  EXPECT_TRUE(store.add_trial("a", trial_at(0)).ok());
  damage(file);
  const auto added = store.add_trial("a", trial_at(1));
  return added.ok() ? "it was acknowledged" : added.error().message;
}

TEST(StoreFaults, AcknowledgesNothingThatThePathDoesNotLeadTo) {
  namespace fs = std::filesystem;
  const auto removed = HasSubstr("was removed or replaced while it was in use");
  EXPECT_THAT(complaint_after([](const fs::path& file) { fs::remove(file); }), removed);
  EXPECT_THAT(complaint_after([](const fs::path& file) { fs::rename(file, file.string() + ".old"); }), removed);
  EXPECT_THAT(complaint_after([](const fs::path& file) {
                fs::copy_file(file, file.string() + ".new");
                fs::rename(file.string() + ".new", file);
              }),
              removed);
  EXPECT_THAT(complaint_after([](const fs::path& file) {
                fs::rename(file.parent_path(), file.parent_path().string() + ".old");
                fs::remove_all(file.parent_path().string() + ".old");
              }),
              removed);
  EXPECT_THAT(complaint_after([](const fs::path& file) { fs::remove(file.string() + "-wal"); }), HasSubstr("-wal"));
  EXPECT_THAT(complaint_after([](const fs::path& file) { fs::remove(file.string() + "-shm"); }), HasSubstr("-shm"));
}

TEST(StoreFaults, FollowsItsFileWhenTheProgramChangesItsFolder) {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory(folder / "elsewhere");
  std::filesystem::current_path(folder.path());
  auto store = Store::open("infermeter.db", Store::Mode::write).value();
  const auto lock = store.lock_run("a");
  std::filesystem::current_path(folder / "elsewhere");
  EXPECT_TRUE(store.begin_run(record_named("a")).ok());
  EXPECT_TRUE(store.is_being_measured("a"));
  std::filesystem::current_path(before);
}

TEST(StoreFaults, AcknowledgesNothingInALogThatWasCut) {
  for (const int kept_bytes : {0, 32, 5000}) {
    EXPECT_THAT(complaint_after([&](const std::filesystem::path& file) {
                  std::filesystem::resize_file(file.string() + "-wal", static_cast<std::uintmax_t>(kept_bytes));
                }),
                HasSubstr("(-wal) cut"));
  }
}

// A long log is brought into the file and begun anew by whoever writes next.
TEST(StoreFaults, TakesALogThatOthersBeganAnewForWhole) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  auto store = Store::open(file, Store::Mode::write).value(), other = Store::open(file, Store::Mode::write).value();
  ASSERT_TRUE(store.begin_run(record_named("a")).ok());
  ASSERT_TRUE(other.begin_run(record_named("b")).ok());
  Samples trial = trial_at(0);
  trial.begin_s.assign(20000, 0.5);
  trial.end_s.assign(20000, 0.75);
  for (trial.position = 0; trial.position < 60; ++trial.position) {
    ASSERT_TRUE(went_well(store.add_trial("a", trial)));
    ASSERT_TRUE(went_well(other.add_trial("b", trial_at(trial.position))));
  }
  EXPECT_EQ(store.load_run("a")->trials.size(), 60U);
  EXPECT_EQ(store.load_run("b")->trials.size(), 60U);
}

TEST(StoreFaults, WhatIsDoneTogetherIsKeptTogetherOrNotAtAll) {
  const TemporaryFolder folder;
  auto store = Store::open(folder / "infermeter.db", Store::Mode::write).value();
  ASSERT_TRUE(store.begin_run(record_named("a")).ok());
  const auto failed = store.together([&]() -> Result<Done> {
    EXPECT_TRUE(store.add_trial("a", trial_at(0)).ok());
    EXPECT_TRUE(store.set_outputs("a", test::outputs_at(1)).ok());
    return io_error("the third failed");
  });
  EXPECT_EQ(failed.error().message, "the third failed");
  EXPECT_TRUE(store.load_run("a")->trials.empty());
  EXPECT_TRUE(store.load_run("a")->outputs.empty());
  ASSERT_TRUE(store.together([&] { return store.add_trial("a", trial_at(0)); }).ok());
  EXPECT_EQ(store.load_run("a")->trials.size(), 1U);
}

TEST(StoreFaults, ARunIsMeasuredByOneAtATime) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  make_store_with_run(file);
  auto store = Store::open(file, Store::Mode::write).value(), other = Store::open(file, Store::Mode::read).value();
  EXPECT_FALSE(other.is_being_measured("a"));
  {
    const auto lock = store.lock_run("a").value();
    const auto second = store.lock_run("b").value();
    EXPECT_TRUE(other.is_being_measured("a"));
    EXPECT_FALSE(other.is_being_measured("c"));
    EXPECT_THAT(other.lock_run("a").error().message, HasSubstr("is being measured by another infermeter"));
  }
  EXPECT_FALSE(other.is_being_measured("a"));
  EXPECT_FALSE(std::filesystem::exists(file.string() + "-lock"));
  // However its process ends.
  const pid_t child = start([&] {
    const auto lock = store.lock_run("a");
    return ::raise(SIGKILL);
  });
  EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
  EXPECT_TRUE(other.lock_run("a").ok());
}

// A child that its killed parent has just forked has the lock until it executes the worker.
TEST(StoreFaults, WaitsForALockThatADeadProcessLeftInItsChild) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  make_store_with_run(file);
  auto store = Store::open(file, Store::Mode::write).value(), other = Store::open(file, Store::Mode::write).value();
  std::array<int, 2> locked{};
  ASSERT_EQ(::pipe(locked.data()), 0);
  const pid_t parent = start([&] {
    const auto lock = store.lock_run("a");
    if (::fork() == 0) {
      (void)!::write(locked[1], "x", 1);
      ::usleep(100'000);
      ::_exit(0);
    }
    return ::raise(SIGKILL);
  });
  char byte = 0;
  ASSERT_EQ(::read(locked[0], &byte, 1), 1);
  EXPECT_EQ(exit_code_of(parent), 128 + SIGKILL);
  EXPECT_TRUE(other.is_being_measured("a"));
  EXPECT_EQ(other.latest_unfinished().value(), "a");
  EXPECT_TRUE(other.lock_run("a").ok());
  ::close(locked[0]);
  ::close(locked[1]);
}

// Each table in turn: one letter of a text, or one bit of a block.
TEST(StoreFaults, NoticesARecordThatIsNotAsItWasWritten) {
  for (const char* const damage :
       {"UPDATE runs SET plan = replace(plan, '\"seed\":7', '\"seed\":6')",
        "UPDATE runs SET created_at = created_at + 1", "UPDATE trials SET samples = replace(samples, 'cpu', 'cqu')",
        "UPDATE trials SET end_s = zeroblob(24) WHERE position = 1", "UPDATE trials SET checksum = checksum + 1",
        "UPDATE outputs SET comparison = replace(comparison, 'false', 'true ')",
        "DELETE FROM trials WHERE position = 1", "DELETE FROM outputs"}) {
    const TemporaryFolder folder;
    const auto file = folder / "infermeter.db";
    {
      auto store = Store::open(file, Store::Mode::write).value();
      ASSERT_TRUE(store.begin_run(record_named("a")).ok());
      ASSERT_TRUE(store.add_trial("a", trial_at(0)).ok());
      ASSERT_TRUE(store.add_trial("a", trial_at(1)).ok());
      ASSERT_TRUE(store.set_outputs("a", test::outputs_at(1)).ok());
      ASSERT_TRUE(store.load_run("a").ok());
    }
    run_sql(file, damage);
    const auto loaded = Store::open(file, Store::Mode::read)->load_run("a");
    ASSERT_FALSE(loaded.ok()) << damage;
    EXPECT_THAT(loaded.error().message, AllOf(HasSubstr("run a in the store"), HasSubstr("is damaged"))) << damage;
  }
}

// A list reads nothing else of a run, and has a checksum of what it reads.
TEST(StoreFaults, NoticesInAListARunThatIsNotAsItWasWritten) {
  for (const char* const damage :
       {"created_at = created_at + 1", "finished = 1", "trials_planned = 5", "trials_done = 5", "labels = '[\"x\"]'",
        "part_of = 'x'", "listing_checksum = listing_checksum + 1"}) {
    const TemporaryFolder folder;
    const auto file = folder / "infermeter.db";
    {
      auto store = Store::open(file, Store::Mode::write).value();
      ASSERT_TRUE(store.begin_run(record_named("a")).ok());
      ASSERT_TRUE(store.add_trial("a", trial_at(0)).ok());
      ASSERT_TRUE(store.begin_run(record_named("b", 2)).ok());
      EXPECT_EQ(store.list_runs()->front().damage, "");
    }
    run_sql(file, (std::string("UPDATE runs SET ") + damage + " WHERE id = 'a'").c_str());
    auto store = Store::open(file, Store::Mode::write).value();
    const auto listed = store.list_runs().value();
    EXPECT_THAT(listed.front().damage, AllOf(HasSubstr("run a in the store"), HasSubstr("is damaged"))) << damage;
    EXPECT_EQ(listed.back().damage, "") << damage;
    EXPECT_THAT(store.prune_runs({.keep = 0, .before = {}}).value(), ElementsAre("b"));
    run_sql(file, "UPDATE runs SET listing_checksum = NULL, labels = '[]'");  // of an infermeter that kept none
    EXPECT_EQ(store.list_runs()->front().damage, "");
  }
}

TEST(StoreFaults, NoticesInAListATagThatIsNotAsItWasWritten) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  auto store = Store::open(file, Store::Mode::write).value();
  for (const char* const id : {"a", "b"}) ASSERT_TRUE(store.begin_run(record_named(id)).ok());
  ASSERT_TRUE(store.tag_run("a", {"foo"}).ok());
  run_sql(file, "UPDATE run_tags SET tag = 'bar'");
  const auto listed = store.list_runs().value();
  EXPECT_THAT(listed.front().damage, AllOf(HasSubstr("run a in the store"), HasSubstr("a tag was changed")));
  EXPECT_EQ(listed.back().damage, "");
}

// They are derived from the run, so that the run has them still.
TEST(StoreFaults, AFigureThatIsNotAsItWasWrittenIsComputedAgain) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  auto store = Store::open(file, Store::Mode::write).value();
  keep_finished_run(store);
  const auto written = store.figures({.metric = "load_time"}).value();
  ASSERT_FALSE(written.empty());
  run_sql(file, "UPDATE figures SET value = value * 2");
  const auto again = store.figures({.metric = "load_time"}).value();
  ASSERT_EQ(again.size(), written.size());
  EXPECT_EQ(again.front().value, written.front().value);
  EXPECT_THAT(store.figures({.metric = "load_time", .series = "another", .machine = {}}).value(), IsEmpty());
  run_sql(file, "UPDATE trials SET samples = '{'");
  EXPECT_THAT(store.figures({.metric = "load_time"}).error().message,
              AllOf(HasSubstr("run a in the store"), HasSubstr("a figure was changed")));
}

TEST(StoreFaults, ABaselineThatIsNotAsItWasWrittenIsSaidAndLeavesTheOthers) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  auto store = Store::open(file, Store::Mode::write).value();
  keep_finished_run(store);
  ASSERT_TRUE(store.set_baseline("nightly", "a", 1).ok());
  ASSERT_TRUE(store.set_baseline("release", "a", 1).ok());
  run_sql(file, "UPDATE baselines SET set_at = 2 WHERE name = 'nightly'");
  const auto listed = store.baselines().value();
  EXPECT_THAT(listed.front().damage, AllOf(HasSubstr("baseline nightly in the store"), HasSubstr("is damaged")));
  EXPECT_EQ(listed.back().damage, "");
  EXPECT_EQ(store.baseline_run("release").value(), "a");
  for (const auto& error : {store.baseline_run("nightly").error(), store.load_run("nightly").error()}) {
    EXPECT_EQ(error.kind, ErrorKind::io);
    EXPECT_EQ(error.message, listed.front().damage);
  }
  auto elsewhere = Store::open(folder / "elsewhere.db", Store::Mode::write).value();
  ASSERT_TRUE(elsewhere.copy_run(store, "a").ok());
  ASSERT_TRUE(elsewhere.copy_baselines(store).ok());
  ASSERT_EQ(elsewhere.baselines()->size(), 1);
  EXPECT_EQ(elsewhere.baselines()->front().name, "release");
  EXPECT_THAT(store.prune_runs({.keep = 0, .before = {}}).value(), IsEmpty());  // whichever it named
  ASSERT_TRUE(store.set_baseline("nightly", "a", 3).ok());
  EXPECT_EQ(store.baseline_run("nightly").value(), "a");
  run_sql(file, "UPDATE baselines SET set_at = 2 WHERE name = 'nightly'");
  ASSERT_TRUE(store.remove_baseline("nightly").ok());
  EXPECT_EQ(store.baselines()->size(), 1);
}

TEST(StoreFaults, RollsBackWhatWasNotCommitted) {
  const TemporaryFolder folder;
  const auto file = folder / "infermeter.db";
  make_store_with_run(file);
  const auto database = SqliteDatabase::open(file, SqliteDatabase::Access::write, {.limit_ms = 0}).value();
  {
    const auto transaction = Transaction::begin(database).value();
    ASSERT_TRUE(database.execute("DELETE FROM trials").ok());
  }
  EXPECT_EQ(database.integer("SELECT count(*) FROM trials").value(), 1);
}

TEST(StoreFaults, TellsItsOwnFilesApart) {
  const TemporaryFolder folder;
  const auto database = SqliteDatabase::open(folder / "x.db", SqliteDatabase::Access::write, {.limit_ms = 0}).value();
  EXPECT_EQ(examine_store(database, "x.db").value(), StoreState::empty);
  ASSERT_TRUE(upgrade_store(database, "x.db").ok());
  ASSERT_TRUE(upgrade_store(database, "x.db").ok());
  EXPECT_EQ(examine_store(database, "x.db").value(), StoreState::current);
  EXPECT_EQ(database.integer("PRAGMA application_id").value(), store_application_id);
}

}  // namespace
}  // namespace infermeter::store_fault_test
