// The store in a PostgreSQL database: how it is named, what it refuses, several who write.
#include "infermeter/store/postgres.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "infermeter/diagnostics/test_paths.hpp"
#include "infermeter/store/postgres_sql.hpp"
#include "infermeter/store/schema.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/store/test_places.hpp"

namespace infermeter::test {

const std::string& postgres_server() {
  static const std::string folder = [] {
    const auto command = fmt::format("'{}/tests/postgres/server' start {}", source_dir, ::getpid());
    FILE* const pipe = ::popen(command.c_str(), "r");
    std::string text(200, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), pipe));
    const int code = WEXITSTATUS(::pclose(pipe));
    EXPECT_TRUE(code == 0 || code == 3) << command;
    return code == 0 ? text.substr(0, text.find('\n')) : "";
  }();
  return folder;
}

}  // namespace infermeter::test

namespace infermeter::postgres_test {
namespace {

using test::emptied_database;
using test::postgres_server;
using test::postgres_url;
using test::record_named;
using test::run_on_postgres;
using test::trial_at;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

StorePlace place_of(std::string_view text) { return StorePlace::from_text(text).value(); }

std::string refusal_of(std::string_view text) {
  const auto place = StorePlace::from_text(text);
  return place.ok() ? "taken: " + place->shown() : place.error().message;
}

TEST(StorePlace, IsAFileOrWhatLibpqConnectsTo) {
  EXPECT_FALSE(place_of("results/a.db").is_database());
  EXPECT_EQ(place_of("results/a.db").file(), "results/a.db");
  EXPECT_FALSE(place_of("./a=b.db").is_database());
  EXPECT_FALSE(place_of("C:x.db").is_database());
  EXPECT_EQ(place_of("postgresql://ann@db.example:5433/team").shown(), "postgresql://db.example:5433/team");
  EXPECT_EQ(place_of("postgres://db/team?sslmode=verify-full").shown(), "postgresql://db/team");
  EXPECT_EQ(place_of("postgresql:///team?host=/run/postgresql").shown(), "postgresql:///team?host=/run/postgresql");
  EXPECT_EQ(place_of("service=team").shown(), "service=team");
  EXPECT_EQ(place_of("host=db dbname=team").shown(), "postgresql://db/team");
  EXPECT_EQ(store_place({.output_dir = "here"})->file(), "here/infermeter.db");
  EXPECT_EQ(store_place({.output_dir = "here", .store = "service=team"})->shown(), "service=team");
}

TEST(StorePlace, APasswordIsRefusedAndNotRepeated) {
  for (const char* const text : {"postgresql://ann:secret@db/team", "postgresql://db/team?password=secret",
                                 "host=db password=secret", "postgresql://db/team?sslpassword=secret",
                                 "mysql://ann:secret@db/team", "postgresql://ann:secret@db/team?x=y"}) {
    EXPECT_THAT(refusal_of(text), AllOf(HasSubstr("~/.pgpass"), HasSubstr("PGPASSFILE"), HasSubstr("service=NAME"),
                                        Not(HasSubstr("secret"))));
  }
}

TEST(StorePlace, WhatIsAlmostAUrlIsRefused) {
  for (const char* const text :
       {"mysql://db/team", "postgresql:/db/team", "postgres:team", "jdbc:postgresql://db/team"}) {
    EXPECT_THAT(refusal_of(text), AllOf(HasSubstr("is not a store"), HasSubstr("postgresql://HOST/DATABASE")));
  }
  EXPECT_THAT(refusal_of("postgresql://db/team?colour=red"), HasSubstr("cannot be read: invalid URI query parameter"));
  EXPECT_THAT(refusal_of("postgresql://db:12x/team?host"), HasSubstr("cannot be read"));
  EXPECT_THAT(refusal_of("hots=db"), HasSubstr("invalid connection option"));
  EXPECT_THAT(refusal_of(""), HasSubstr("names nothing"));
  EXPECT_THAT(refusal_of("mysql://\x1b[31m"), Not(HasSubstr("\x1b")));
}

TEST(PostgresSql, IsSqlitesInOtherWords) {
  EXPECT_EQ(in_postgres("INSERT INTO t (a, checksum) VALUES (?1, ?12, digest(?1, ?12)) "),
            "INSERT INTO t (a, checksum) VALUES ($1, $12, NULL) ");
  EXPECT_EQ(
      schema_in_postgres("CREATE TABLE t (\n  a TEXT NOT NULL,\n  b INTEGER,\n  c REAL,\n  d BLOB\n) STRICT;"),
      "CREATE TABLE t (\n  rowid BIGINT GENERATED ALWAYS AS IDENTITY,\n  a TEXT COLLATE \"C\" NOT NULL,\n  b BIGINT,\n"
      "  c DOUBLE PRECISION,\n  d BYTEA\n);");
}

class Postgres : public testing::Test {
 protected:
  void SetUp() override {
    if (postgres_server().empty()) GTEST_SKIP() << "PostgreSQL is not installed: scripts/setup --tests installs it";
    emptied_database();
    place.emplace(place_of(postgres_url()));
  }
  [[nodiscard]] Result<Store> open(Store::Mode mode = Store::Mode::write) const { return Store::open(*place, mode); }
  [[nodiscard]] std::string error_of(Store::Mode mode, const std::optional<StorePlace>& other = {}) const {
    const auto store = Store::open(other ? *other : *place, mode);
    return store.ok() ? "opened" : store.error().message;
  }
  void make_store_with_run(const std::string& id = "a") const { ASSERT_TRUE(open()->begin_run(record_named(id)).ok()); }
  std::optional<StorePlace> place;
};

TEST_F(Postgres, WhatCannotBeReachedIsSaid) {
  const auto folder = place_of("postgresql:///team?host=/nowhere");
  EXPECT_THAT(error_of(Store::Mode::write, folder),
              AllOf(HasSubstr("cannot connect to the store postgresql:///team?host=/nowhere"), HasSubstr("--store")));
  const auto database = place_of(fmt::format("postgresql:///nosuch?host={}&user=infermeter", postgres_server()));
  EXPECT_THAT(error_of(Store::Mode::write, database), HasSubstr("database \"nosuch\" does not exist"));
  EXPECT_THAT(error_of(Store::Mode::read, place_of(postgres_url("nobody"))),
              HasSubstr("role \"nobody\" does not exist"));
  EXPECT_THAT(error_of(Store::Mode::read, place_of("service=nosuch")), HasSubstr("nosuch"));
}

TEST_F(Postgres, OnlyWhoWritesMakesAStore) {
  for (const auto mode : {Store::Mode::read, Store::Mode::write_if_possible}) {
    EXPECT_THAT(error_of(mode), AllOf(HasSubstr("there is no store"), HasSubstr("--store")));
  }
  EXPECT_EQ(error_of(Store::Mode::write), "opened");
  EXPECT_EQ(error_of(Store::Mode::read), "opened");
}

TEST_F(Postgres, AnotherProgramsSchemaIsRefused) {
  run_on_postgres("CREATE SCHEMA infermeter; CREATE TABLE infermeter.runs (id TEXT)");
  for (const auto mode : {Store::Mode::read, Store::Mode::write, Store::Mode::write_if_possible}) {
    EXPECT_THAT(error_of(mode), AllOf(HasSubstr("is refused"), HasSubstr("another program's")));
  }
}

TEST_F(Postgres, TablesThatAreNotAsInfermeterMakesThemAreRefused) {
  for (const char* const change : {"ALTER TABLE infermeter.peaks RENAME TO hidden; CREATE VIEW infermeter.peaks AS "
                                   "SELECT * FROM infermeter.hidden",
                                   "DROP TABLE infermeter.peaks", "ALTER TABLE infermeter.peaks DROP COLUMN peaks"}) {
    emptied_database();
    ASSERT_TRUE(open().ok());
    run_on_postgres(change);
    for (const auto mode : {Store::Mode::read, Store::Mode::write}) {
      EXPECT_THAT(error_of(mode), AllOf(HasSubstr("is refused"), HasSubstr("peaks is not a table, or lacks columns")));
    }
  }
}

TEST_F(Postgres, ANewerStoreIsRefusedAndAnOlderOneBroughtUpToDate) {
  make_store_with_run();
  run_on_postgres("UPDATE infermeter.store_version SET version = 999");
  EXPECT_THAT(error_of(Store::Mode::read), AllOf(HasSubstr("newer infermeter"), HasSubstr("999")));
  run_on_postgres(
      "DROP TABLE infermeter.run_tags, infermeter.run_notes; DROP INDEX infermeter.runs_listed, "
      "infermeter.runs_in_order, "
      "infermeter.figures_listed; CREATE INDEX figures_by_series ON infermeter.figures (metric, series, machine); "
      "ALTER TABLE infermeter.runs DROP COLUMN trials_done, DROP COLUMN listing_checksum; "
      "UPDATE infermeter.store_version SET version = 8");
  EXPECT_THAT(error_of(Store::Mode::read), HasSubstr("was written by an older infermeter"));
  EXPECT_EQ(error_of(Store::Mode::write), "opened");
  EXPECT_EQ(open(Store::Mode::read)->load_run("latest")->id, "a");
  EXPECT_EQ(PostgresDatabase::open(*place, {})
                .value()
                ->integer("SELECT count(*) FROM pg_policies WHERE tablename IN ('run_tags', 'run_notes')")
                .value(),
            8);
}

TEST_F(Postgres, ADatabaseOfAnotherEncodingIsRefused) {
  run_on_postgres("DROP DATABASE IF EXISTS latin");
  run_on_postgres("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'");
  const auto latin = place_of(fmt::format("postgresql:///latin?host={}&user=infermeter", postgres_server()));
  EXPECT_THAT(error_of(Store::Mode::write, latin), HasSubstr("its encoding is LATIN1"));
}

TEST_F(Postgres, RightsAreTheServers) {
  make_store_with_run();
  run_on_postgres("DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
  const auto reader = place_of(postgres_url("reader"));
  EXPECT_THAT(error_of(Store::Mode::read, reader),
              AllOf(HasSubstr("the user 'reader' may not read the store"), HasSubstr("docs/store.md")));
  run_on_postgres(
      "GRANT USAGE ON SCHEMA infermeter TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA infermeter TO reader");
  EXPECT_THAT(error_of(Store::Mode::write, reader), HasSubstr("the user 'reader' may not write to the store"));
  auto store = Store::open(reader, Store::Mode::write_if_possible).value();
  EXPECT_EQ(store.load_run("latest")->id, "a");
  EXPECT_TRUE(store.complete_figures().ok());
  EXPECT_THAT(store.begin_run(record_named("b")).error().message,
              AllOf(HasSubstr("the user 'reader' may not"), HasSubstr("permission denied for table runs")));
  run_on_postgres("REVOKE SELECT ON infermeter.trials FROM reader");
  EXPECT_THAT(Store::open(reader, Store::Mode::read)->load_run("latest").error().message,
              HasSubstr("permission denied"));
  run_on_postgres("DROP SCHEMA infermeter CASCADE");
  EXPECT_THAT(error_of(Store::Mode::write, reader), HasSubstr("the user 'reader' may not make the store"));
}

TEST_F(Postgres, WritersChangeTheirOwnRunsOnlyAndBaselinesAreGranted) {
  make_store_with_run("of-owner");
  for (const char* const name : {"ann", "bob"}) {
    run_on_postgres(fmt::format("DO $$ BEGIN CREATE ROLE {0} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$; "
                                "GRANT USAGE ON SCHEMA infermeter TO {0}; "
                                "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA infermeter TO {0}; "
                                "REVOKE INSERT, UPDATE, DELETE ON infermeter.baselines FROM {0}",
                                name)
                        .c_str());
  }
  auto ann = Store::open(place_of(postgres_url("ann")), Store::Mode::write).value();
  auto bob = Store::open(place_of(postgres_url("bob")), Store::Mode::write).value();
  RunRecord record = record_named("of-ann");
  ASSERT_TRUE(ann.begin_run(record).ok());
  ASSERT_TRUE(ann.add_trial("of-ann", trial_at(0)).ok());
  EXPECT_EQ(bob.load_run("of-ann")->trials.size(), 1U);
  for (const char* const id : {"of-ann", "of-owner"}) {
    EXPECT_THAT(bob.lock_run(id).error().message, HasSubstr("is another user's"));
    EXPECT_THAT(bob.add_trial(id, trial_at(1)).error().message, HasSubstr("row-level security"));
    EXPECT_THAT(bob.set_outputs(id, test::outputs_at(1)).error().message, HasSubstr("row-level security"));
    EXPECT_THAT(bob.tag_run(id, {"mine"}).error().message, HasSubstr("is another user's"));
    EXPECT_THAT(bob.set_note(id, "mine").error().message, HasSubstr("is another user's"));
    EXPECT_THAT(bob.delete_runs({id}).error().message, HasSubstr("is another user's"));
  }
  EXPECT_TRUE(bob.prunable({.keep = 0, .before = {}})->empty());
  EXPECT_EQ(ann.prunable({.keep = 0, .before = {}})->size(), 1U);
  record.finished = true;
  EXPECT_FALSE(bob.finish_run(record).ok());
  ASSERT_TRUE(bob.remove_run("of-ann").ok());  // there is none that it may remove
  ASSERT_TRUE(ann.lock_run("of-ann").ok());
  ASSERT_TRUE(ann.finish_run(record).ok());
  const test::TemporaryFolder folder;
  auto copies = Store::open(folder / "copies.db", Store::Mode::write).value();
  EXPECT_EQ(copies.copy_run(bob, "of-ann").value(), Copied::whole);
  EXPECT_TRUE(bob.has_all_of(copies, "of-ann")) << "though Bob may not lock it";
  EXPECT_THAT(ann.set_baseline("main", "of-ann", 1).error().message,
              HasSubstr("permission denied for table baselines"));
  // Figures of another's run that cannot be kept are made all the same.
  run_on_postgres("UPDATE infermeter.runs SET has_figures = 0; DELETE FROM infermeter.figures");
  EXPECT_EQ(bob.complete_figures()->completed, 1);
  auto owner = open().value();
  ASSERT_TRUE(owner.lock_run("of-ann").ok());
  EXPECT_TRUE(owner.set_baseline("main", "of-ann", 1).ok());
  EXPECT_EQ(owner.complete_figures()->completed, 1);
  EXPECT_EQ(bob.baseline_run("main").value(), "of-ann");
}

TEST_F(Postgres, ARunIsLockedByWhoMeasuresIt) {
  make_store_with_run();
  auto store = open().value();
  auto other = open().value();
  {
    const auto lock = store.lock_run("a").value();
    EXPECT_TRUE(other.is_being_measured("a"));
    EXPECT_FALSE(other.is_being_measured("b"));
    EXPECT_THAT(other.lock_run("a").error().message, HasSubstr("run a is being measured by another infermeter"));
    EXPECT_THAT(store.lock_run("a").error().message, HasSubstr("run a is being measured by another infermeter"));
    EXPECT_THAT(other.latest_unfinished().error().message, HasSubstr("but what another infermeter is measuring"));
    EXPECT_TRUE(other.lock_run("b").ok());
  }
  EXPECT_EQ(other.latest_unfinished().value(), "a");
  EXPECT_TRUE(other.lock_run("a").ok());
}

TEST_F(Postgres, ALockEndsWithItsConnection) {
  make_store_with_run();
  auto other = open().value();
  std::optional<Result<RunLock>> lock;
  {
    auto store = open().value();
    lock = store.lock_run("a");
    ASSERT_TRUE(lock->ok());
  }
  EXPECT_TRUE(other.is_being_measured("a"));  // who has the lock keeps the connection
  run_on_postgres("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'");
  EXPECT_TRUE(other.lock_run("a").ok());
}

TEST_F(Postgres, ManyMakeTheStoreAndWriteOneRunAtOnce) {
  constexpr int writers = 8, trials = 5;
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  RunRecord record = record_named("shared");
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] {
      auto store = open();
      if (!store.ok()) return static_cast<void>(++failures);
      static_cast<void>(store->begin_run(record));  // one of them begins it
      for (int i = 0; i < trials; ++i) {
        if (!store->add_trial("shared", trial_at(writer * trials + i)).ok()) ++failures;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  const auto kept = open(Store::Mode::read)->load_run("shared");
  ASSERT_TRUE(kept.ok()) << kept.error().message;  // as many records as were counted
  EXPECT_EQ(kept->trials.size(), static_cast<std::size_t>(writers * trials));
}

TEST_F(Postgres, WhatOthersSayOfARunWhileItIsPrunedCounts) {
  for (const char* const id : {"a", "b", "c"}) make_store_with_run(id);
  auto store = open().value();
  auto other = open().value();
  std::optional<Result<std::vector<std::string>>> gone;
  std::atomic<bool> ended = false;
  std::thread pruning;
  const auto said = other.together([&]() -> Result<Done> {
    INFERMETER_TRY_DONE(other.tag_run("a", {"paper"}));
    RunRecord finished = record_named("b");
    finished.finished = true;
    INFERMETER_TRY_DONE(other.finish_run(finished));
    INFERMETER_TRY_DONE(other.set_baseline("main", "b", 1));
    pruning = std::thread([&] {
      gone = store.prune_runs({.keep = 0, .before = {}});
      ended = true;
    });
    const auto watch = PostgresDatabase::open(*place, {.limit_ms = 1000}).value();
    const auto waits = [&] { return watch->integer("SELECT count(*) FROM pg_locks WHERE NOT granted").value() > 0; };
    while (!ended && !waits()) std::this_thread::yield();
    return Done{};
  });
  ASSERT_TRUE(said.ok()) << said.error().message;
  pruning.join();
  ASSERT_TRUE(gone && gone->ok()) << gone->error().message;
  EXPECT_THAT(**gone, ElementsAre("c"));
  EXPECT_THAT(other.list_runs().value(), ElementsAre(Field(&RunListing::id, "a"), Field(&RunListing::id, "b")));
}

TEST_F(Postgres, OfManyRunsAllAreDeletedOrNone) {
  constexpr int runs = 250;
  auto store = open().value();
  std::vector<std::string> ids;
  ASSERT_TRUE(store
                  .together([&]() -> Result<Done> {
                    for (int i = 0; i < runs; ++i) {
                      ids.push_back(fmt::format("run-{}", i));
                      INFERMETER_TRY_DONE(store.begin_run(record_named(ids.back(), i + 1)));
                    }
                    return Done{};
                  })
                  .ok());
  run_on_postgres(
      "CREATE FUNCTION infermeter.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not this one'; END $$; "
      "CREATE TRIGGER refuse BEFORE DELETE ON infermeter.runs FOR EACH ROW WHEN (OLD.id = 'run-249') "
      "EXECUTE FUNCTION infermeter.refuse()");
  EXPECT_THAT(store.delete_runs(ids).error().message, HasSubstr("not this one"));
  EXPECT_EQ(store.list_runs()->size(), ids.size());
}

TEST_F(Postgres, ALostConnectionIsAnErrorAndKeepsNothingHalf) {
  make_store_with_run();
  auto store = open().value();
  const auto cut = [&]() -> Result<Done> {
    INFERMETER_TRY_DONE(store.add_trial("a", trial_at(0)));
    run_on_postgres(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
        "application_name = 'infermeter'");
    return store.add_trial("a", trial_at(1));
  };
  const auto kept = store.together(cut);
  ASSERT_FALSE(kept.ok());
  EXPECT_THAT(kept.error().message, AllOf(HasSubstr("the connection to the store"), HasSubstr("was lost"),
                                          HasSubstr("a record that was being kept is not in it")));
  EXPECT_EQ(open(Store::Mode::read)->load_run("a")->trials.size(), 0U);
}

TEST_F(Postgres, AConnectionThatIsLostWhileReadingSaysNothingOfRecords) {
  make_store_with_run();
  auto store = open(Store::Mode::read).value();
  run_on_postgres(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
      "application_name = 'infermeter'");
  EXPECT_THAT(store.list_runs().error().message,
              AllOf(HasSubstr("was lost while it was read"), Not(HasSubstr("record"))));
}

TEST_F(Postgres, ASignalEndsAWaitForOthers) {
  make_store_with_run();
  const auto holder = PostgresDatabase::open(*place, {.limit_ms = 1000}).value();
  ASSERT_TRUE(holder->execute("BEGIN; LOCK TABLE baselines").ok());
  const std::atomic<int> interrupt = 1;
  auto store = Store::open(*place, Store::Mode::write, &interrupt).value();
  RunRecord finished = record_named("a");
  finished.finished = true;
  ASSERT_TRUE(store.finish_run(finished).ok());
  EXPECT_THAT(store.set_baseline("n", "a", 1).error().message, HasSubstr("stopped while it waited for the store"));
  holder->roll_back();
  EXPECT_TRUE(store.set_baseline("n", "a", 1).ok());
}

TEST_F(Postgres, TextThatCannotBeKeptIsRefused) {
  auto store = open().value();
  for (const std::string& bad : {std::string("a\0b", 3), std::string("\xff")}) {
    EXPECT_THAT(store.begin_run(record_named(bad)).error().message, HasSubstr("cannot keep a value"));
  }
  EXPECT_TRUE(store.begin_run(record_named("'; DROP TABLE runs; --")).ok());
  EXPECT_EQ(store.load_run("'; DROP")->id, "'; DROP TABLE runs; --");
}

}  // namespace
}  // namespace infermeter::postgres_test
