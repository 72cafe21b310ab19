#include "infermeter/worker/profile/jit_map_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace infermeter::jit_map_file_test {
namespace {

constexpr pid_t nobody = 999'999'937;  // beyond any number that the kernel gives away
const std::string path = "/tmp/perf-999999937.map";

TEST(JitMapFile, IsReadAndDeletedWithItsOwner) {
  {
    const JitMapFile file(nobody);
    ASSERT_EQ(file.path(), path);
    struct stat status{};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    std::ofstream(path) << "10 20 kernel\n";
    EXPECT_EQ(file.read(), "10 20 kernel\n");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(JitMapFile, LeavesWhatIsThereAlready) {
  std::ofstream(path) << "old\n";
  {
    const JitMapFile file(nobody);
    EXPECT_EQ(file.path(), "");
    EXPECT_EQ(file.read(), "");
  }
  EXPECT_TRUE(std::filesystem::remove(path));
}

TEST(JitMapFile, DoesNotFollowALink) {
  const std::string target = testing::TempDir() + "jit_map_target";
  std::ofstream(target) << "mine\n";
  std::filesystem::remove(path);
  std::filesystem::create_symlink(target, path);
  EXPECT_EQ(JitMapFile(nobody).path(), "");
  EXPECT_TRUE(std::filesystem::exists(target));
  EXPECT_TRUE(std::filesystem::remove(path));
}

TEST(JitMapFile, ReadsTheFileThatItMade) {
  {
    const JitMapFile file(nobody);
    std::filesystem::remove(path);
    std::ofstream(path) << "another\n";
    EXPECT_EQ(file.read(), "");
  }
  EXPECT_TRUE(std::filesystem::remove(path)) << "what is not its own stays";
}

}  // namespace
}  // namespace infermeter::jit_map_file_test
