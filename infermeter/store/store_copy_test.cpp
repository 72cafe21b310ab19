// Runs of one store in another, each kind in each.
#include <gmock/gmock.h>

#include <string>

#include "infermeter/store/sqlite.hpp"
#include "infermeter/store/store.hpp"
#include "infermeter/store/test_places.hpp"

namespace infermeter::store_copy_test {
namespace {

using test::outputs_at;
using test::record_named;
using test::trial_at;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

class StoreCopy : public test::OnEachStore {
 protected:
  static RunRecord begin(Store& store, const std::string& id, int trials) {
    RunRecord record = record_named(id);
    EXPECT_TRUE(store.begin_run(record).ok());
    add(store, record, trials);
    return record;
  }
  static void add(Store& store, RunRecord& record, int trials) {
    for (int i = 0; i < trials; ++i) {
      record.trials.push_back(trial_at(static_cast<int>(record.trials.size())));
      EXPECT_TRUE(store.add_trial(record.id, record.trials.back()).ok());
    }
  }
  static void finish(Store& store, RunRecord& record) {
    record.finished = true;
    ASSERT_TRUE(store.finish_run(record).ok());
  }

  Store from = Store::open(folder / "from.db", Store::Mode::write).value();
  Store to = Store::open(place, Store::Mode::write).value();
};
INFERMETER_ON_EACH_STORE(StoreCopy);

TEST_P(StoreCopy, ThereAndBackEveryRowIsTheSame) {
  auto record = begin(from, "a", 4);
  ASSERT_TRUE(from.set_outputs("a", outputs_at(1)).ok());
  OperatorProfile profile;
  profile.position = 3;
  profile.own_trace = std::string("\x1f\x8b\0\xff", 4);
  ASSERT_TRUE(from.add_profile("a", profile).ok());
  finish(from, record);
  begin(from, "unfinished", 1);
  const std::byte block[] = {std::byte{1}, std::byte{0}};
  ASSERT_TRUE(from.keep_output_block("unfinished", 0, block).ok());
  ASSERT_TRUE(from.set_baseline("main", "a", 1.5).ok());
  auto back = Store::open(folder / "back.db", Store::Mode::write).value();
  for (const char* const id : {"a", "unfinished"}) {
    EXPECT_EQ(to.copy_run(from, id).value(), Copied::whole);
    EXPECT_EQ(to.copy_run(from, id).value(), Copied::there_already);
    EXPECT_EQ(back.copy_run(to, id).value(), Copied::whole);
    EXPECT_EQ(from.copy_run(back, id).value(), Copied::there_already);
  }
  EXPECT_THAT(to.copy_baselines(from).value(), SizeIs(0));
  EXPECT_EQ(to.baseline_run("main").value(), "a");
  EXPECT_EQ(to.figures({.metric = "load_time"})->size(), from.figures({.metric = "load_time"})->size());
  EXPECT_EQ(to.complete_figures()->completed, 0);
  EXPECT_EQ(back.output_block("unfinished", 0).value()->size(), 2U);
  // What SQLite sums up of all rows: the same bytes, with the same checksums.
  const auto sum_of = [&](const char* file) {
    const auto database = SqliteDatabase::open(folder / file, SqliteDatabase::Access::read, {}).value();
    std::string sum;
    for (const char* const table :
         {"runs", "trials", "side_trials", "outputs", "profiles", "traces", "output_blocks", "figures"}) {
      auto statement = database.prepare(std::string("SELECT count(*), sum(checksum) FROM ") + table).value();
      EXPECT_TRUE(statement.step().value());
      sum += std::to_string(statement.integer(0)) + "/" + std::to_string(statement.integer(1)) + " ";
    }
    return sum;
  };
  EXPECT_EQ(sum_of("back.db"), sum_of("from.db"));
}

TEST_P(StoreCopy, WhatIsMissingOfARunIsAdded) {
  auto record = begin(from, "a", 2);
  EXPECT_EQ(to.copy_run(from, "a").value(), Copied::whole);
  ASSERT_TRUE(from.add_trial("a", trial_at(3, TrialEnd::interrupted)).ok());
  EXPECT_EQ(to.copy_run(from, "a").value(), Copied::extended);
  ASSERT_TRUE(from.add_trial("a", trial_at(3)).ok());  // measured again
  add(from, record, 1);
  EXPECT_EQ(to.copy_run(from, "a").value(), Copied::extended);
  EXPECT_FALSE(to.load_run("a")->finished);
  EXPECT_EQ(to.load_run("a")->trials.at(3).end, TrialEnd::ok);
  finish(from, record);
  EXPECT_EQ(to.copy_run(from, "a").value(), Copied::extended);
  const auto kept = to.load_run("a").value();
  EXPECT_TRUE(kept.finished);
  EXPECT_THAT(kept.trials, SizeIs(4));
  EXPECT_EQ(from.copy_run(to, "a").value(), Copied::there_already);
}

TEST_P(StoreCopy, TheNodesOfAClusterAreAddedAsTheyAreTakenIn) {
  auto record = begin(from, "a", 1);
  EXPECT_EQ(to.copy_run(from, "a").value(), Copied::whole);
  record.environment.nodes.resize(2);
  record.environment.nodes[1].hostname = "n2";
  ASSERT_TRUE(from.set_environment("a", record.environment).ok());
  add(from, record, 1);
  EXPECT_EQ(to.copy_run(from, "a").value(), Copied::extended);
  EXPECT_THAT(to.load_run("a")->environment.nodes, SizeIs(2));
  finish(from, record);
  EXPECT_EQ(to.copy_run(from, "a").value(), Copied::extended);
  EXPECT_EQ(to.load_run("a")->environment.nodes.at(1).hostname, "n2");
}

TEST_P(StoreCopy, WhetherAllOfARunIsThereChangesNothing) {
  auto record = begin(from, "a", 2);
  EXPECT_FALSE(to.has_all_of(from, "a"));
  EXPECT_FALSE(to.load_run("a").ok()) << "nothing was copied";
  EXPECT_EQ(to.copy_run(from, "a").value(), Copied::whole);
  EXPECT_TRUE(to.has_all_of(from, "a"));
  add(from, record, 1);
  EXPECT_FALSE(to.has_all_of(from, "a"));
  EXPECT_THAT(to.load_run("a")->trials, SizeIs(2));
  EXPECT_FALSE(to.has_all_of(from, "gone"));
}

TEST_P(StoreCopy, WhatContradictsIsRefusedAndNothingOfItCopied) {
  begin(from, "a", 2);
  RunRecord other = record_named("a");
  other.created_at += 1;
  ASSERT_TRUE(to.begin_run(other).ok());
  EXPECT_THAT(
      to.copy_run(from, "a").error().message,
      AllOf(HasSubstr("run a cannot be copied"), HasSubstr("another run has this id there (created_at differs)")));
  begin(from, "b", 3);
  ASSERT_TRUE(to.begin_run(record_named("b")).ok());
  Samples measured = trial_at(2);
  measured.begin_s[0] += 1e-9;
  ASSERT_TRUE(to.add_trial("b", measured).ok());
  EXPECT_THAT(to.copy_run(from, "b").error().message, HasSubstr("its trial 2 is another one there"));
  EXPECT_THAT(to.load_run("b")->trials, SizeIs(1));
  EXPECT_THAT(to.copy_run(from, "c").error().message, HasSubstr("is not there any more"));
}

TEST_P(StoreCopy, AChangedRowIsNotCopied) {
  begin(from, "a", 2);
  {
    const auto database = SqliteDatabase::open(folder / "from.db", SqliteDatabase::Access::write, {}).value();
    ASSERT_TRUE(database.run("UPDATE trials SET iterations = 99").ok());
  }
  EXPECT_THAT(to.copy_run(from, "a").error().message, HasSubstr("its checksum is wrong"));
  EXPECT_FALSE(to.load_run("a").ok());
}

TEST_P(StoreCopy, ABaselineOfAnotherRunIsLeft) {
  for (const char* const id : {"a", "b"}) {
    auto record = begin(from, id, 1);
    finish(from, record);
    ASSERT_TRUE(to.copy_run(from, id).ok());
  }
  ASSERT_TRUE(from.set_baseline("main", "a", 1).ok());
  ASSERT_TRUE(to.set_baseline("main", "b", 1).ok());
  const auto left = to.copy_baselines(from).value();
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left[0].name, "main");
  EXPECT_EQ(to.baseline_run("main").value(), "b");
}

TEST_P(StoreCopy, WhatIsSoFarIsKeptAndDelivered) {
  RunRecord record = begin(to, "a", 2);
  record.trials.push_back(trial_at(2));  // could not be kept in `to`
  record.finished = true;                // nor could this
  ASSERT_TRUE(from.keep_so_far(record).ok());
  record.trials.push_back(trial_at(3));
  ASSERT_TRUE(from.keep_so_far(record).ok());
  EXPECT_THAT(from.load_run("a")->trials, SizeIs(4));
  EXPECT_FALSE(from.load_run("a")->finished);
  EXPECT_EQ(to.copy_run(from, "a").value(), Copied::extended);
  EXPECT_THAT(to.load_run("a")->trials, SizeIs(4));
}

}  // namespace
}  // namespace infermeter::store_copy_test
