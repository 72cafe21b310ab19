#include "infermeter/data/new_file.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "infermeter/data/fixtures/fixtures.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter::new_file_test {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(NewFile, HasItsNameOnlyWhenItIsWhole) {
  const fixtures::Folder folder;
  const fs::path file = folder / "a.txt";
  ASSERT_TRUE(write_new_file(file, bytes_of("old"), false).ok());
  {
    auto made = NewFile::beside(file);
    ASSERT_TRUE(made.ok());
    ASSERT_TRUE(made->write(bytes_of("new")).ok());
    EXPECT_EQ(whole_file(file), "old");
    ASSERT_TRUE(made->finish().ok());
    EXPECT_EQ(whole_file(file), "old");
    ASSERT_TRUE(made->take_name(true).ok());
  }
  EXPECT_EQ(whole_file(file), "new");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0644));
  EXPECT_EQ(files_in(folder.string()), 1U);
}

TEST(NewFile, IsRemovedUnlessItIsFinished) {
  const fixtures::Folder folder;
  {
    auto made = NewFile::beside(folder / "a.txt");
    ASSERT_TRUE(made.ok());
    ASSERT_TRUE(made->write(bytes_of("half")).ok());
    const NewFile moved = std::move(*made);
    EXPECT_EQ(whole_file(moved.part()), "half");
  }
  EXPECT_EQ(files_in(folder.string()), 0U);
}

TEST(NewFile, KeepsWhatCameUpMeanwhile) {
  const fixtures::Folder folder;
  const fs::path file = folder / "a.txt";
  auto made = NewFile::beside(file);
  ASSERT_TRUE(made->finish().ok());
  std::ofstream(file) << "somebody else's";
  const auto taken = made->take_name(false);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().message, "cannot write '" + file.string() + "': File exists");
  EXPECT_EQ(whole_file(file), "somebody else's");
}

TEST(NewFile, SaysWhyThereIsNone) {
  EXPECT_EQ(write_new_file("/no/such/folder/a", {}, true).error().message,
            "cannot write '/no/such/folder/a': No such file or directory");
  const fixtures::Folder folder;
  fs::create_directory(folder / "a");
  EXPECT_FALSE(write_new_file(folder / "a", {}, true).ok());
  EXPECT_EQ(files_in(folder.string()), 1U);
  const std::string longest(255, 'x');
  EXPECT_TRUE(write_new_file(folder / longest, bytes_of("y"), true).ok());
}

TEST(NewFile, LeftoversGo) {
  const fixtures::Folder folder;
  const fs::path file = folder / "a.txt";
  std::ofstream(folder / ".a.txt.part-abcdef") << "of a writer that was killed";
  std::ofstream(folder / ".b.txt.part-abcdef") << "of another file";
  remove_leftovers(file);
  EXPECT_EQ(files_in(folder.string()), 1U);
}

}  // namespace
}  // namespace infermeter::new_file_test
