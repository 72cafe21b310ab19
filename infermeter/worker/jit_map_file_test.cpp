#include "infermeter/worker/jit_map_file.hpp"

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

TEST(JitMapFile, ReplacesWhatAnEarlierProcessLeft) {
  std::ofstream(path) << "old\n";
  const JitMapFile file(nobody);
  EXPECT_EQ(file.path(), path);
  EXPECT_EQ(file.read(), "");
}

TEST(JitMapFile, DoesNotFollowALink) {
  const std::string target = testing::TempDir() + "jit_map_target";
  std::ofstream(target) << "mine\n";
  std::filesystem::remove(path);
  std::filesystem::create_symlink(target, path);
  {
    const JitMapFile file(nobody);
    std::ofstream(path) << "10 20 kernel\n";
  }
  std::ifstream stream(target);
  std::string text;
  std::getline(stream, text);
  EXPECT_EQ(text, "mine");
}

TEST(JitMapFile, ReadsTheFileThatItMade) {
  const JitMapFile file(nobody);
  std::filesystem::remove(path);
  std::ofstream(path) << "another\n";
  EXPECT_EQ(file.read(), "");
}

}  // namespace
}  // namespace infermeter::jit_map_file_test
