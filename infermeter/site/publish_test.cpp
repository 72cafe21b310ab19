#include "infermeter/site/publish.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <set>
#include <sstream>

#include "infermeter/store/sqlite.hpp"
#include "infermeter/store/test_records.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter::publish_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* hostile = "</title><script>alert(1)</script>\"'&]]>\x1b[31m";

class Publish : public testing::Test {
 protected:
  void add(const std::string& id, double day, const std::string& label = "a") {
    RunRecord record = test::record_named(id, 1795261320 + day * 86400);
    record.plan.subjects.front().label = label;
    ASSERT_TRUE(store.begin_run(record).ok());
    for (int position = 0; position < 4; ++position) {
      Samples trial = test::trial_at(position);
      trial.begin_s = {0, 1e-3, 2e-3};
      trial.end_s = {0.9e-3, 1.9e-3, 2.9e-3 + 1e-5 * day};
      trial.warmup_begin_s = trial.warmup_end_s = {};
      ASSERT_TRUE(store.add_trial(id, trial).ok());
      record.trials.push_back(trial);
    }
    record.finished = true;
    ASSERT_TRUE(store.finish_run(record).ok());
  }
  PublishedSite publish() { return publish_site(store, request).value(); }
  [[nodiscard]] std::string content(const std::string& name) const { return whole_file(request.folder / name); }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(request.folder)) {
      if (entry.is_regular_file()) all.insert(entry.path().lexically_relative(request.folder).string());
    }
    return all;
  }
  [[nodiscard]] std::string feed_id() const {
    const std::string feed = content("feed.xml");
    const std::size_t begin = feed.find("<id>") + 4;
    return feed.substr(begin, feed.find("</id>") - begin);
  }

  const test::TemporaryFolder folder;
  Store store = Store::open(folder / "infermeter.db", Store::Mode::write).value();
  SiteRequest request{.folder = folder / "site"};
};

TEST_F(Publish, OneRunMoreCostsItsPageAndOneLessItsRemoval) {
  add("20261121-1", 0);
  add("20261122-1", 1);
  const auto first = publish();
  EXPECT_EQ(first.runs, 2U);
  EXPECT_EQ(first.series, 2U);
  EXPECT_EQ(static_cast<std::size_t>(first.written) + 1, names().size());
  EXPECT_EQ(publish().written, 0);
  add("20261123-1", 2);
  EXPECT_EQ(publish().written, 1 + 2 + 2)
      << "its page, its two series, the index and the list of runs; badges say the same";
  EXPECT_THAT(names(), Contains("runs/20261123-1.html"));
  ASSERT_TRUE(store.delete_runs({"20261121-1"}).ok());
  EXPECT_EQ(publish().removed, 1);
  EXPECT_THAT(names(), Not(Contains("runs/20261121-1.html")));
  EXPECT_THAT(content("runs.html"), Not(HasSubstr("20261121-1")));
}

TEST_F(Publish, OlderRunsHaveNoPage) {
  for (int day = 0; day < 4; ++day) add("2026112" + std::to_string(day), day);
  request.runs = 2;
  EXPECT_EQ(publish().runs, 2U);
  EXPECT_THAT(names(), AllOf(Contains("runs/20261123.html"), Not(Contains("runs/20261121.html"))));
  EXPECT_THAT(content("runs.html"), HasSubstr("2 older runs have no page"));
}

TEST_F(Publish, RunsThatWereCopiedLaterAreAsOldAsTheyAre) {
  add("20261124", 4);
  add("20261125", 5);
  add("20261121", 1);
  add("20261126", 6);
  request.runs = 3;
  EXPECT_EQ(publish().runs, 3U);
  EXPECT_THAT(names(), AllOf(Contains("runs/20261124.html"), Contains("runs/20261126.html"),
                             Not(Contains("runs/20261121.html"))));
  request.runs = 4;
  publish();
  EXPECT_THAT(content("runs/20261126.html"), HasSubstr("20261125.html")) << "the run before it";
  EXPECT_THAT(content("runs/20261124.html"), HasSubstr("20261121.html"));
}

TEST_F(Publish, ADamagedRunIsNamedAndLeftOut) {
  add("20261121", 0);
  add("20261122", 1);
  const auto database =
      SqliteDatabase::open(folder / "infermeter.db", SqliteDatabase::Access::write, {.limit_ms = 1000}).value();
  ASSERT_TRUE(database.execute("UPDATE trials SET samples = '{' WHERE run = '20261122'").ok());
  const auto site = publish();
  EXPECT_THAT(site.unreadable, ElementsAre("20261122"));
  EXPECT_EQ(site.runs, 1U);
  EXPECT_THAT(names(), AllOf(Contains("runs/20261121.html"), Not(Contains("runs/20261122.html"))));
}

TEST_F(Publish, NamesFromOutsideBecomeText) {
  request.title = hostile;
  for (const std::string id : {"../../x", "/etc/passwd", "20261121/x", "-rf", hostile}) add(id, 0, hostile);
  publish();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 4)
      << "the store with its log and its index, and the site";
  for (const std::string& name : names()) {
    if (name.starts_with("assets/")) continue;
    EXPECT_THAT(content(name), AllOf(Not(HasSubstr("<script>alert")), Not(HasSubstr("\x1b")))) << name;
    EXPECT_TRUE(!name.starts_with("runs/") || name.starts_with("runs/x-")) << name;
  }
}

// RFC 4287: the id of a feed never changes, wherever its title or its first run goes.
TEST_F(Publish, TheFeedIsKnownByItsAddressOrByAnIdThatStays) {
  add("20261121", 0);
  publish();
  const std::string own = feed_id();
  EXPECT_THAT(own, testing::MatchesRegex("urn:uuid:[0-9a-f-]*"));
  request.title = "another";
  add("20261122", 1);
  ASSERT_TRUE(store.delete_runs({"20261121"}).ok());
  publish();
  EXPECT_EQ(feed_id(), own);
  for (const char* const base : {"https://example.org/speed", "https://example.org/speed/"}) {
    request.base_url = base;
    publish();
    EXPECT_EQ(feed_id(), "https://example.org/speed/feed.xml");
    EXPECT_THAT(content("feed.xml"), HasSubstr("<link rel=\"self\" type=\"application/atom+xml\" "
                                               "href=\"https://example.org/speed/feed.xml\"/>"));
  }
  request.base_url.clear();
  publish();
  EXPECT_EQ(feed_id(), own);
}

TEST_F(Publish, WhatIsNoAddressOfAFolderIsRefusedBeforeAnythingIsWritten) {
  add("20261121", 0);
  for (const char* const base :
       {"javascript:alert(1)", "https://example.org/?a=1", "https://example.org/#x", "ftp://example.org/",
        "example.org/speed", "https://example.org/a b", "https://example.org/\"x", "https://example.org/\n",
        "https://example.org/\xc3\xa9", "HTTPS://example.org<"}) {
    request.base_url = base;
    const auto refused = publish_site(store, request);
    ASSERT_FALSE(refused.ok()) << base;
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr("--base-url"), HasSubstr("is not an address of a folder")));
    EXPECT_FALSE(fs::exists(request.folder));
  }
}

TEST_F(Publish, ASignalStopsItAndTheNextOneCompletesIt) {
  add("20261121", 0);
  const std::atomic<int> interrupt = 1;
  const auto stopped = publish_site(store, request, &interrupt);
  ASSERT_FALSE(stopped.ok());
  EXPECT_THAT(stopped.error().message, HasSubstr("stopped"));
  EXPECT_FALSE(fs::exists(request.folder / "index.html"));
  publish();
  EXPECT_TRUE(fs::exists(request.folder / "index.html"));
}

}  // namespace
}  // namespace infermeter::publish_test
