#include "infermeter/models/mapped_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "infermeter/models/test_folder.hpp"

namespace infermeter::mapped_file_test {
namespace {

constexpr std::size_t kSize = std::size_t{1} << 20;

TEST(MappedFile, AFileThatIsCutWhileItIsReadEndsInZeros) {
  const TestFolder folder;
  const auto file = folder.write("m.onnx", std::string(kSize, 'x'));
  const auto mapped = MappedFile::open(file);
  ASSERT_TRUE(mapped.ok()) << mapped.error().message;
  EXPECT_TRUE(mapped->check_whole().ok());
  std::filesystem::resize_file(file, 10);
  EXPECT_EQ(mapped->bytes()[0], 'x');
  EXPECT_EQ(mapped->bytes()[kSize - 1], '\0');
  EXPECT_EQ(mapped->bytes()[kSize / 2], '\0');
  EXPECT_EQ(mapped->check_whole().error().message,
            "'" + file.string() + "' was cut while it was read: give it again when it is complete");
}

TEST(MappedFile, ManyAtOnceAndOneAfterTheOther) {
  const TestFolder folder;
  const auto file = folder.write("m", "content");
  for (int round = 0; round < 3; ++round) {
    std::vector<MappedFile> open;
    for (int i = 0; i < 64; ++i) {
      auto mapped = MappedFile::open(file);
      ASSERT_TRUE(mapped.ok()) << mapped.error().message;
      open.push_back(std::move(mapped).value());
    }
    EXPECT_THAT(MappedFile::open(file).error().message, testing::HasSubstr("too many files are being read"));
  }
}

TEST(MappedFileDeathTest, AnotherSigbusIsAsItWas) {
  const TestFolder folder;
  const auto mapped = MappedFile::open(folder.write("m", "content"));
  ASSERT_TRUE(mapped.ok());
  std::signal(SIGBUS, SIG_DFL);
  ASSERT_TRUE(MappedFile::open(folder / "m").ok());
  EXPECT_EXIT(std::raise(SIGBUS), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace infermeter::mapped_file_test
