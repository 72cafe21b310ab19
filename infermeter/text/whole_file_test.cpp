#include "infermeter/text/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace infermeter::whole_file_test {
namespace {

namespace fs = std::filesystem;

class WholeFile : public testing::Test {
 protected:
  WholeFile() { fs::create_directory(folder_); }
  ~WholeFile() override { fs::remove_all(folder_); }
  [[nodiscard]] fs::path written(const std::string& bytes) const {
    std::ofstream(folder_ / "file", std::ios::binary) << bytes;
    return folder_ / "file";
  }

  const fs::path folder_ = fs::temp_directory_path() / ("whole_file-" + std::to_string(getpid()));
};

TEST_F(WholeFile, HasEveryByte) {
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>(i % 256);
  EXPECT_EQ(whole_file(written(bytes)), bytes);
  EXPECT_EQ(whole_file(written("\r\n\x1a\n")), "\r\n\x1a\n");
  EXPECT_EQ(whole_file(written("")), "");
}

TEST_F(WholeFile, IsEmptyWhereNothingCanBeRead) {
  EXPECT_EQ(whole_file(folder_ / "none"), "");
  EXPECT_EQ(whole_file(folder_), "");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(whole_file(folder_ / "pipe"), "");
}

}  // namespace
}  // namespace infermeter::whole_file_test
