#include "infermeter/worker/wall/private_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace infermeter::private_folder_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* marker = ".infermeter-private-folder";

class PrivateFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    parent_ = testing::TempDir() + "private-folder-test-XXXXXX";
    ASSERT_NE(mkdtemp(parent_.data()), nullptr);
  }
  void TearDown() override { fs::remove_all(parent_); }

  // Its owner ended without a destructor, as one that was killed.
  fs::path abandoned() const {
    int pipes[2];
    EXPECT_EQ(pipe(pipes), 0);
    const FileDescriptor reading(pipes[0]), writing(pipes[1]);
    const pid_t owner = fork();
    if (owner == 0) {
      const auto folder = PrivateFolder::create_in(parent_);
      const std::string path = folder.ok() ? folder.value().path().string() : "";
      static_cast<void>(!write(writing.get(), path.data(), path.size()));
      _exit(0);
    }
    waitpid(owner, nullptr, 0);
    char path[4096];
    const ssize_t got = read(reading.get(), path, sizeof path);
    return {std::string(path, static_cast<std::size_t>(std::max<ssize_t>(got, 0)))};
  }

  // A user's, a year old.
  fs::path of_user(const char* name) const {
    const fs::path folder = fs::path(parent_) / name;
    fs::create_directories(folder / "data");
    std::ofstream(folder / "data/infermeter.db") << "results";
    const timespec old[2] = {{.tv_sec = 1'700'000'000, .tv_nsec = 0}, {.tv_sec = 1'700'000'000, .tv_nsec = 0}};
    EXPECT_EQ(utimensat(AT_FDCWD, folder.c_str(), old, 0), 0);
    return folder;
  }

  std::string parent_;
};

TEST_F(PrivateFolderTest, IsDeletedWithItsOwnerWhateverIsInIt) {
  const fs::path outside = of_user("outside");
  fs::path path;
  {
    const auto folder = PrivateFolder::create_in(parent_);
    ASSERT_TRUE(folder.ok());
    path = folder.value().path();
    fs::create_directory_symlink(outside, path / "link");
    fs::create_directories(path / "closed/inner");
    std::ofstream(path / "closed/inner/file") << "x";
    fs::permissions(path / "closed", fs::perms::none);
    fs::path deep = path;
    for (int i = 0; i < 100; ++i) deep /= "d";
    fs::create_directories(deep);
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(outside / "data/infermeter.db")) << "links are not followed";
}

// Whoever writes there may have put a folder where the marker was.
TEST_F(PrivateFolderTest, IsDeletedWithoutItsMarker) {
  fs::path path;
  {
    const auto folder = PrivateFolder::create_in(parent_);
    ASSERT_TRUE(folder.ok());
    path = folder.value().path();
    const fs::path marker = path / ".infermeter-private-folder";
    ASSERT_TRUE(fs::remove(marker));
    fs::create_directories(marker / "inner");
    std::ofstream(marker / "inner/file") << "x";
    // What is too deep is moved to names that are there.
    fs::path deep = path;
    for (int i = 0; i < 100; ++i) deep /= "d";
    fs::create_directories(deep);
    for (int i = 0; i < 10; ++i) fs::create_directories(path / ("." + std::to_string(i)) / "x");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(PrivateFolderTest, OfAKilledOwnerIsDeletedByTheNext) {
  const fs::path left = abandoned();
  ASSERT_TRUE(fs::exists(left / marker));
  std::ofstream(left / "file") << "x";
  const auto next = PrivateFolder::create_in(parent_);
  EXPECT_FALSE(fs::exists(left));
  delete_abandoned_folders(parent_);
  EXPECT_TRUE(fs::exists(next.value().path())) << "its owner lives";
}

TEST_F(PrivateFolderTest, FoldersOfUsersStayWhateverTheirNameIs) {
  for (const char* const name : {"infermeter-master", "infermeter-0.10.0", "infermeter-report", "infermeter-bench1",
                                 "infermeter-abcdef", "infermeter-0.10.1"})
    of_user(name);
  const auto folder = PrivateFolder::create_in(parent_);
  ASSERT_TRUE(folder.ok());
  delete_abandoned_folders(parent_);
  for (const char* const name : {"infermeter-master", "infermeter-0.10.0", "infermeter-report", "infermeter-bench1",
                                 "infermeter-abcdef", "infermeter-0.10.1"})
    EXPECT_TRUE(fs::exists(fs::path(parent_) / name / "data/infermeter.db")) << name;
}

TEST_F(PrivateFolderTest, AMarkerThatWasCopiedMovedOrLinkedMakesNothingOurs) {
  const fs::path copied = of_user("infermeter-copied"), linked = of_user("infermeter-linked");
  const fs::path moved = fs::path(parent_) / "infermeter-moved1";
  fs::rename(abandoned(), moved);
  const fs::path original = abandoned();
  fs::copy_file(original / marker, copied / marker);
  fs::create_symlink(original / marker, linked / marker);
  fs::create_directory_symlink(original, fs::path(parent_) / "infermeter-symlnk");
  ASSERT_EQ(mkfifo((of_user("infermeter-apipe1") / marker).c_str(), 0600), 0);
  delete_abandoned_folders(parent_);
  EXPECT_FALSE(fs::exists(original));
  EXPECT_TRUE(fs::is_symlink(fs::path(parent_) / "infermeter-symlnk"));
  EXPECT_TRUE(fs::exists(copied / "data/infermeter.db"));
  EXPECT_TRUE(fs::exists(linked / "data/infermeter.db"));
  EXPECT_TRUE(fs::exists(moved));
}

TEST_F(PrivateFolderTest, AnotherUsersStays) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const fs::path left = abandoned();
  ASSERT_EQ(chown(left.c_str(), 65534, 65534), 0);
  delete_abandoned_folders(parent_);
  EXPECT_TRUE(fs::exists(left));
}

TEST_F(PrivateFolderTest, WhatTookItsPlaceStays) {
  fs::path path;
  {
    const auto folder = PrivateFolder::create_in(parent_);
    path = folder.value().path();
    fs::rename(path, path.string() + "-away");
    of_user(path.filename().c_str());
  }
  EXPECT_TRUE(fs::exists(path / "data/infermeter.db"));
}

}  // namespace
}  // namespace infermeter::private_folder_test
