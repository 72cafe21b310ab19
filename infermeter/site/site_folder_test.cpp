#include "infermeter/site/site_folder.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "infermeter/store/test_records.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter::site_folder_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SiteFolderTest : public testing::Test {
 protected:
  // A file that notes that it was made.
  SiteFile file(const std::string& name, const std::string& key) {
    return {.name = name, .key = key, .make = [this, name, key] {
              made.push_back(name);
              return Result<std::string>(name + " " + key);
            }};
  }
  [[nodiscard]] SiteFolder opened() const { return SiteFolder::open(site).value(); }
  [[nodiscard]] std::string refusal() const {
    const auto folder = SiteFolder::open(site);
    return folder.ok() ? "opened" : folder.error().message;
  }
  Result<Done> publish(const std::vector<SiteFile>& files) {
    SiteFolder folder = opened();
    made.clear();
    unmade.clear();
    INFERMETER_TRY_DONE(folder.write(files, unmade, &interrupt));
    INFERMETER_TRY_DONE(folder.remove_others());
    removed = folder.removed();
    return Done{};
  }
  [[nodiscard]] std::string content(const std::string& name) const { return whole_file(site / name); }
  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((site / name).parent_path());
    std::ofstream(site / name) << text;
  }

  const test::TemporaryFolder temporary;
  const fs::path site = temporary / "site";
  std::vector<std::string> made, unmade;
  std::atomic<int> interrupt = 0;
  int removed = 0;
};

TEST_F(SiteFolderTest, WritesWhatIsNewOrChangedAndRemovesWhatHasGone) {
  ASSERT_TRUE(publish({file("runs/1.html", "a"), file("runs/2.html", "a"), file("index.html", "a")}).ok());
  EXPECT_THAT(made, ElementsAre("runs/1.html", "runs/2.html", "index.html"));
  ASSERT_TRUE(publish({file("runs/1.html", "a"), file("runs/2.html", "a"), file("index.html", "a")}).ok());
  EXPECT_THAT(made, IsEmpty());
  ASSERT_TRUE(publish({file("runs/2.html", "a"), file("runs/3.html", "a"), file("index.html", "b")}).ok());
  EXPECT_THAT(made, ElementsAre("runs/3.html", "index.html"));
  EXPECT_EQ(removed, 1);
  EXPECT_FALSE(fs::exists(site / "runs/1.html"));
  EXPECT_EQ(content("index.html"), "index.html b");
}

TEST_F(SiteFolderTest, WhatSomebodyRemovedOrReplacedByALinkIsWrittenAgain) {
  const std::vector<SiteFile> files = {file("runs/1.html", "a"), file("index.html", "a")};
  ASSERT_TRUE(publish(files).ok());
  fs::remove(site / "runs/1.html");
  ASSERT_TRUE(publish(files).ok());
  EXPECT_THAT(made, ElementsAre("runs/1.html"));
  fs::remove(site / "index.html");
  fs::create_symlink(temporary / "elsewhere", site / "index.html");
  EXPECT_THAT(refusal(), HasSubstr("holds 'index.html'"));
}

TEST_F(SiteFolderTest, AnInterruptedPublishingIsCompletedByTheNextOne) {
  SiteFile second = file("runs/2.html", "a");
  second.make = [this] {
    interrupt = 1;
    return Result<std::string>("two");
  };
  const auto stopped = publish({file("runs/1.html", "a"), second, file("index.html", "a")});
  ASSERT_FALSE(stopped.ok());
  EXPECT_THAT(stopped.error().message, HasSubstr("the same command writes the rest"));
  EXPECT_THAT(made, ElementsAre("runs/1.html"));
  EXPECT_FALSE(fs::exists(site / "index.html"));
  interrupt = 0;
  ASSERT_TRUE(publish({file("runs/1.html", "a"), file("runs/2.html", "a"), file("index.html", "a")}).ok());
  EXPECT_THAT(made, ElementsAre("index.html")) << "what was whole is not written again";
}

// A process that was killed: the list was written before the first file, and says that none is known to be whole.
TEST_F(SiteFolderTest, WhoWasKilledInTheFirstListBlocksNothing) {
  put(".infermeter-site.txt.part-a1b2c3", "infermeter.si");
  ASSERT_TRUE(publish({file("index.html", "a")}).ok());
  EXPECT_FALSE(fs::exists(site / ".infermeter-site.txt.part-a1b2c3"));
  EXPECT_TRUE(fs::exists(site / "index.html"));
}

TEST_F(SiteFolderTest, AfterACrashNothingHalfWrittenIsTakenForWhole) {
  SiteFile killed = file("index.html", "b");
  killed.make = [this]() -> Result<std::string> {
    fs::copy(site, temporary / "crashed", fs::copy_options::recursive);
    return std::string("index.html b");
  };
  ASSERT_TRUE(publish({file("runs/1.html", "a"), file("index.html", "a")}).ok());
  ASSERT_TRUE(publish({file("runs/1.html", "a"), killed}).ok());
  fs::remove_all(site);
  fs::rename(temporary / "crashed", site);
  put("index.html", "<!doct");
  put(".index.html.part-a1b2c3", "<!doc");
  put("runs/.1.html.part-a1b2c3", "<!doc");
  ASSERT_TRUE(publish({file("runs/1.html", "a"), file("index.html", "a")}).ok());
  EXPECT_THAT(made, ElementsAre("index.html"));
  EXPECT_EQ(content("index.html"), "index.html a");
  EXPECT_FALSE(fs::exists(site / ".index.html.part-a1b2c3") || fs::exists(site / "runs/.1.html.part-a1b2c3"));
}

TEST_F(SiteFolderTest, WhatCannotBeMadeIsLeftOutAndItsOldPageGoes) {
  SiteFile damaged = file("runs/1.html", "b");
  damaged.make = [] { return Result<std::string>(io_error("damaged")); };
  ASSERT_TRUE(publish({file("runs/1.html", "a"), file("index.html", "a")}).ok());
  ASSERT_TRUE(publish({damaged, file("index.html", "b")}).ok());
  EXPECT_THAT(unmade, ElementsAre("runs/1.html"));
  EXPECT_FALSE(fs::exists(site / "runs/1.html"));
  EXPECT_EQ(content("index.html"), "index.html b");
}

TEST_F(SiteFolderTest, AFolderOfSomebodyElseIsLeftAsItIs) {
  for (const char* const name :
       {"index.html", "notes.txt", "runs/mine.html", ".index.html.part-a1b2c3", "more/x.html"}) {
    put(name, "mine");
    EXPECT_THAT(refusal(), AllOf(HasSubstr("which `infermeter publish` did not write"), HasSubstr("holds '"))) << name;
    EXPECT_EQ(content(name), "mine");
    fs::remove_all(site);
  }
  put(".git/HEAD", "ref");
  put(".nojekyll", "");
  put("CNAME", "speed.example.org");
  EXPECT_EQ(refusal(), "opened");
}

TEST_F(SiteFolderTest, AListThatNamesWhatIsNoFileOfASiteRemovesNothing) {
  ASSERT_TRUE(publish({file("index.html", "a")}).ok());
  const std::string list = content("infermeter-site.txt");
  std::ofstream(temporary / "kept") << "kept";
  for (const std::string name : {"../kept", "runs/../../kept", "/etc/passwd", ".hidden", "runs/.hidden", "more/x.html",
                                 "runs/", "runs/a/b.html", "RUNS/x.html", "runs/x y.html"}) {
    put("infermeter-site.txt", list + "0123 " + name + "\n");
    EXPECT_THAT(refusal(), HasSubstr("which is not a file of a site")) << name;
  }
  put("infermeter-site.txt", "another program's\n");
  EXPECT_THAT(refusal(), HasSubstr("is not of this infermeter"));
  fs::remove(site / "infermeter-site.txt");
  fs::create_symlink(temporary / "kept", site / "infermeter-site.txt");
  EXPECT_THAT(refusal(), HasSubstr("is not a file"));
  EXPECT_TRUE(fs::exists(temporary / "kept"));
}

TEST_F(SiteFolderTest, OneWritesItAtATime) {
  const SiteFolder first = opened();
  EXPECT_THAT(refusal(), HasSubstr("another infermeter is writing it"));
}

TEST_F(SiteFolderTest, TheFeedKeepsItsId) {
  {
    SiteFolder folder = opened();
    EXPECT_EQ(folder.feed_id, "");
    folder.feed_id = "urn:uuid:1";
    ASSERT_TRUE(folder.write({file("index.html", "a")}, unmade, nullptr).ok());
  }
  EXPECT_EQ(opened().feed_id, "urn:uuid:1");
}

}  // namespace
}  // namespace infermeter::site_folder_test
