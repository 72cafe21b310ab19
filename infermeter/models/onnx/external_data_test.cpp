#include "infermeter/models/onnx/external_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "infermeter/models/test_folder.hpp"

namespace infermeter::external_data_test {
namespace {

class ExternalData : public testing::Test {
 protected:
  ExternalData() {
    std::filesystem::create_directories(folder_ / "model" / "sub");
    std::ofstream(folder_ / "model" / "w.bin") << std::string(100, 'w');
    std::ofstream(folder_ / "model" / "sub" / "v.bin") << std::string(50, 'v');
    std::ofstream(folder_ / "secret") << "secret";
  }
  Result<std::vector<WeightFile>> check(const std::string& location, std::int64_t offset = 0,
                                        std::int64_t length = -1) {
    return check_external_data({{.tensor = "w", .location = location, .offset = offset, .length = length}},
                               folder_ / "model");
  }
  std::string why_not(const std::string& location, std::int64_t offset = 0, std::int64_t length = -1) {
    const auto result = check(location, offset, length);
    if (result.ok()) return "it was accepted";
    EXPECT_EQ(result.error().kind, ErrorKind::model);
    return result.error().message;
  }
  static std::string sentence(const std::string& location, const std::string& why) {
    return "tensor 'w' keeps its data in '" + location + "', " + why + "; a model's data must lie in its own folder";
  }

  TestFolder folder_;
};

TEST_F(ExternalData, FilesInTheFolderAreTakenOnce) {
  const auto files = check_external_data({{.tensor = "a", .location = "w.bin", .offset = 0, .length = 60},
                                          {.tensor = "b", .location = "w.bin", .offset = 60, .length = 40},
                                          {.tensor = "c", .location = "./sub/v.bin", .offset = 50, .length = -1}},
                                         folder_ / "model");
  ASSERT_TRUE(files.ok()) << files.error().message;
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ(files->at(0).path, (folder_ / "model" / "w.bin").string());
  EXPECT_EQ(files->at(0).size_bytes, 100U);
  EXPECT_EQ(files->at(1).path, (folder_ / "model" / "sub" / "v.bin").string());
}

TEST_F(ExternalData, PathsThatLeaveAreRefused) {
  EXPECT_EQ(why_not("../secret"), sentence("../secret", "which leaves the model's folder by '..'"));
  EXPECT_EQ(why_not("sub/../w.bin"), sentence("sub/../w.bin", "which leaves the model's folder by '..'"));
  EXPECT_EQ(why_not("/etc/passwd"), sentence("/etc/passwd", "an absolute path"));
  EXPECT_EQ(why_not(""), sentence("", "which names no file"));
  EXPECT_EQ(why_not("./."), sentence("./.", "which names no file"));
  EXPECT_EQ(why_not(std::string("w.bin\0x", 7)), sentence("w.bin\\x00x", "whose name contains a NUL"));
  EXPECT_EQ(why_not("*/_ORT_MEM_ADDR_/*"), sentence("*/_ORT_MEM_ADDR_/*", "an address in memory"));
  std::string deep = "x";
  for (int i = 0; i < 64; ++i) deep = "d/" + deep;
  EXPECT_EQ(why_not(deep), sentence(deep, "which has too many folders"));
}

TEST_F(ExternalData, LinksAreRefusedWhereverTheyStand) {
  std::filesystem::create_symlink(folder_ / "secret", folder_ / "model" / "link.bin");
  std::filesystem::create_directory_symlink(folder_.path(), folder_ / "model" / "out");
  EXPECT_EQ(why_not("link.bin"), sentence("link.bin", "where 'link.bin' is a symbolic link"));
  EXPECT_EQ(why_not("out/secret"), sentence("out/secret", "where 'out' is a symbolic link"));
}

TEST_F(ExternalData, OnlyRegularFiles) {
  ASSERT_EQ(mkfifo((folder_ / "model" / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(why_not("fifo"), sentence("fifo", "which is not a regular file"));
  EXPECT_EQ(why_not("sub"), sentence("sub", "which is not a regular file"));
  EXPECT_EQ(why_not("w.bin/x"), sentence("w.bin/x", "where 'w.bin' is not a folder"));
  EXPECT_EQ(why_not("none.bin"), sentence("none.bin", "which cannot be opened: No such file or directory"));
}

TEST_F(ExternalData, NothingBeyondTheEnd) {
  EXPECT_TRUE(check("w.bin", 0, 100).ok());
  EXPECT_TRUE(check("w.bin", 100, 0).ok());
  EXPECT_EQ(why_not("w.bin", 1, 100),
            sentence("w.bin", "of 100 bytes, of which it needs 100 from 1 on: beyond its end"));
  EXPECT_THAT(why_not("w.bin", 101), testing::HasSubstr("beyond its end"));
  // offset + length wraps around 2^63
  EXPECT_THAT(why_not("w.bin", INT64_MAX, INT64_MAX), testing::HasSubstr("beyond its end"));
  EXPECT_THAT(why_not("w.bin", 0, INT64_MAX), testing::HasSubstr("beyond its end"));
}

TEST_F(ExternalData, AFolderThatIsNoneIsSaid) {
  const auto result =
      check_external_data({{.tensor = "w", .location = "w.bin", .offset = 0, .length = -1}}, folder_ / "gone");
  EXPECT_THAT(result.error().message, testing::HasSubstr("whose folder cannot be opened: No such file"));
}

}  // namespace
}  // namespace infermeter::external_data_test
