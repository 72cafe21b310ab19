#include "infermeter/fleet/job_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "infermeter/store/test_records.hpp"

namespace infermeter::job_folder_test {

namespace fs = std::filesystem;

constexpr const char* id = "20261121-114200-3f9a";

struct Example {
  Example() {
    fs::create_directories(results / "jobs" / id / "1");
    fs::create_directories(outside / "1");
  }

  const test::TemporaryFolder folder;
  const fs::path results = folder / "results", outside = folder / "outside", cache = folder / "cache";
};

TEST(JobFolder, IsOfARunAndNoPathOfAStoreThatIsAnybodys) {
  const Example example;
  const auto found = find_job(example.results, id).value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->folder, example.results / "jobs" / id);
  for (const std::string& other : {example.outside.string(), std::string("../../outside"), std::string("../jobs/") + id,
                                   std::string("."), std::string()})
    EXPECT_FALSE(find_job(example.results, other).value()) << other;
}

TEST(JobFolder, AScriptIsOnesOwnAsItWasWritten) {
  const Example example;
  const ClusterJob job = *find_job(example.results, id).value();
  const auto write = [&](const char* script) { std::ofstream(job.folder / "job.sh") << script; };
  EXPECT_FALSE(has_own_script(job, example.cache)) << "there is none";
  write("exec infermeter");
  EXPECT_FALSE(has_own_script(job, example.cache)) << "nobody here wrote it";
  remember_script(job, "exec infermeter", example.cache);
  EXPECT_TRUE(has_own_script(job, example.cache));
  write("exec infermeter; evil");
  EXPECT_FALSE(has_own_script(job, example.cache));
  EXPECT_FALSE(has_own_script(job, example.folder / "another-cache"));
}

}  // namespace infermeter::job_folder_test
