// Tags, notes, and runs that go.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "infermeter/store/store.hpp"
#include "infermeter/store/test_places.hpp"
#include "infermeter/store/test_records.hpp"

namespace infermeter::store_marks_test {
namespace {

using test::record_named;
using test::trial_at;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

class StoreMarks : public test::OnEachStore {
 protected:
  void begin(const std::string& id, double created_at, bool finished = true) {
    RunRecord record = record_named(id, created_at);
    ASSERT_TRUE(store.begin_run(record).ok());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(store.add_trial(id, trial_at(i)).ok());
    record.finished = finished;
    if (!finished) return;
    ASSERT_TRUE(store.finish_run(record).ok());
  }

  std::vector<std::string> prunable_ids(const PruneQuery& query) {
    std::vector<std::string> ids;
    const auto runs = store.prunable(query).value();
    for (const RunListing& run : runs) ids.push_back(run.id);
    return ids;
  }

  Store store = Store::open(place, Store::Mode::write).value();
};
INFERMETER_ON_EACH_STORE(StoreMarks);

TEST_P(StoreMarks, TagsAndNotesAreListedWithTheirRun) {
  begin("one", 1);
  begin("two", 2);
  EXPECT_EQ(store.tag_run("latest", {"nightly", "bios-1.2", "nightly", "模型"}).value(), "two");
  EXPECT_EQ(store.set_note("tw", "after the update\n'; DROP TABLE notes; --").value(), "two");
  const auto runs = store.list_runs().value();
  EXPECT_THAT(runs[0].tags, IsEmpty());
  EXPECT_EQ(runs[0].note, "");
  EXPECT_THAT(runs[1].tags, ElementsAre("bios-1.2", "nightly", "模型"));
  EXPECT_EQ(runs[1].note, "after the update\n'; DROP TABLE notes; --");
  EXPECT_TRUE(store.untag_run("two", {"模型", "nightly"}).ok());
  EXPECT_TRUE(store.set_note("two", "shorter").ok());
  EXPECT_THAT(store.list_runs()->at(1).tags, ElementsAre("bios-1.2"));
  EXPECT_EQ(store.list_runs()->at(1).note, "shorter");
  EXPECT_TRUE(store.set_note("two", "").ok());
  EXPECT_EQ(store.list_runs()->at(1).note, "");
  EXPECT_TRUE(store.load_run("two").ok()) << "they are no records of the run";
}

TEST_P(StoreMarks, WhatIsNoTagOrNoNoteIsRefusedAndNothingIsKept) {
  begin("one", 1);
  for (const std::string& bad :
       {std::string(), std::string("a b"), std::string("a\nb"), std::string("\xff"), std::string(101, 'a')}) {
    EXPECT_THAT(store.tag_run("one", {"good", bad}).error().message, HasSubstr("a tag is a word of 1 to 100 bytes"));
  }
  EXPECT_THAT(store.untag_run("one", {"gone"}).error().message, AllOf(HasSubstr("has no tag"), HasSubstr("gone")));
  EXPECT_FALSE(store.set_note("one", std::string(10'001, 'a')).ok());
  EXPECT_FALSE(store.set_note("one", "\xff").ok());
  EXPECT_THAT(store.tag_run("nosuch", {"a"}).error().message, HasSubstr("there is no run 'nosuch'"));
  EXPECT_THAT(store.list_runs()->at(0).tags, IsEmpty());
}

TEST_P(StoreMarks, ARunIsDeletedWithAllThatBelongsToIt) {
  begin("one", 1);
  begin("two", 2);
  ASSERT_TRUE(store.tag_run("two", {"a"}).ok());
  ASSERT_TRUE(store.set_note("two", "b").ok());
  EXPECT_THAT(store.delete_runs({"latest", "two"}).value(), ElementsAre("two"));
  EXPECT_THAT(store.list_runs().value(), ElementsAre(Field(&RunListing::id, "one")));
  EXPECT_TRUE(store.shrink().ok());
  begin("two", 3);
  EXPECT_THAT(store.list_runs()->at(1).tags, IsEmpty());
  EXPECT_EQ(store.load_run("two")->trials.size(), 3U);
}

TEST_P(StoreMarks, WhereOneRunMayNotGoNoneGoes) {
  begin("one", 1);
  begin("two", 2);
  begin("three", 3, false);
  ASSERT_TRUE(store.set_baseline("main", "two", 1).ok());
  EXPECT_THAT(store.delete_runs({"one", "two"}).error().message,
              AllOf(HasSubstr("run two is the baseline 'main'"), HasSubstr("baseline remove")));
  {
    const auto lock = store.lock_run("three").value();
    EXPECT_THAT(store.delete_runs({"one", "three"}).error().message, HasSubstr("being measured"));
    EXPECT_THAT(prunable_ids({.keep = 0, .before = {}}), ElementsAre("one"));
  }
  EXPECT_FALSE(store.delete_runs({"one", "nosuch"}).ok());
  EXPECT_EQ(store.list_runs()->size(), 3U);
  EXPECT_THAT(store.delete_runs({"one", "three"}).value(), ElementsAre("one", "three"));
}

TEST_P(StoreMarks, MoreRunsGoThanFilesCanBeOpen) {
  constexpr int runs = 300;
  std::vector<std::string> ids;
  ASSERT_TRUE(store
                  .together([&]() -> Result<Done> {
                    for (int i = 0; i < runs; ++i) {
                      ids.push_back("run-" + std::to_string(i));
                      INFERMETER_TRY_DONE(store.begin_run(record_named(ids.back(), i + 1)));
                    }
                    return Done{};
                  })
                  .ok());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 256, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto gone = store.delete_runs(ids);
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE(gone.ok()) << gone.error().message;
  EXPECT_EQ(*gone, ids);
  EXPECT_THAT(store.list_runs().value(), IsEmpty());
}

TEST_P(StoreMarks, TheNewestTheTaggedAndBaselinesAreNotPruned) {
  for (int i = 1; i <= 6; ++i) begin("run-" + std::to_string(i), i);
  ASSERT_TRUE(store.tag_run("run-2", {"paper"}).ok());
  ASSERT_TRUE(store.set_baseline("main", "run-3", 1).ok());
  EXPECT_THAT(prunable_ids({.keep = 2, .before = {}}), ElementsAre("run-1", "run-4"));
  EXPECT_THAT(prunable_ids({.keep = {}, .before = 4.0}), ElementsAre("run-1"));
  EXPECT_THAT(prunable_ids({.keep = 4, .before = 6.0}), ElementsAre("run-1"));
  EXPECT_THAT(prunable_ids({.keep = 6, .before = {}}), IsEmpty());
  EXPECT_THAT(prunable_ids({.keep = 60, .before = {}}), IsEmpty());
  EXPECT_THAT(store.prune_runs({.keep = 2, .before = {}}).value(), ElementsAre("run-1", "run-4"));
  EXPECT_EQ(store.list_runs()->size(), 4U);
}

TEST_P(StoreMarks, TrialsThatAreDoneAreCountedAsTheyCome) {
  ASSERT_TRUE(store.begin_run(record_named("one", 1)).ok());
  EXPECT_EQ(store.list_runs()->at(0).trials_done, 0);
  ASSERT_TRUE(store.add_trial("one", trial_at(0)).ok());
  ASSERT_TRUE(store.add_trial("one", trial_at(1, TrialEnd::interrupted)).ok());
  EXPECT_EQ(store.list_runs()->at(0).trials_done, 1);
  ASSERT_TRUE(store.add_trial("one", trial_at(1)).ok());
  EXPECT_EQ(store.list_runs()->at(0).trials_done, 2);
  ASSERT_TRUE(store.remove_trial("one", 0).ok());
  EXPECT_EQ(store.list_runs()->at(0).trials_done, 1);
}

TEST_P(StoreMarks, AreCopiedWithARunThatIsNew) {
  begin("one", 1);
  ASSERT_TRUE(store.tag_run("one", {"a", "b"}).ok());
  ASSERT_TRUE(store.set_note("one", "n").ok());
  auto other = Store::open(StorePlace(folder / "other.db"), Store::Mode::write).value();
  EXPECT_EQ(other.copy_run(store, "one").value(), Copied::whole);
  EXPECT_THAT(other.list_runs()->at(0).tags, ElementsAre("a", "b"));
  EXPECT_EQ(other.list_runs()->at(0).note, "n");
  EXPECT_EQ(other.list_runs()->at(0).trials_done, 3);
  ASSERT_TRUE(store.tag_run("one", {"c"}).ok());
  EXPECT_EQ(other.copy_run(store, "one").value(), Copied::there_already);
}

}  // namespace
}  // namespace infermeter::store_marks_test
