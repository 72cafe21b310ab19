#include "infermeter/data/arrays/write_npz.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "infermeter/data/arrays/npz.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter::write_npz_test {
namespace {

class WriteNpz : public ::testing::Test {
 protected:
  std::string path(const char* name) const { return (folder_ / name).string(); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_ = [] {
    auto made = std::filesystem::temp_directory_path() / ("write-npz-" + std::to_string(getpid()));
    std::filesystem::create_directories(made);
    return made;
  }();
};

TEST_F(WriteNpz, IsReadBackAsItWas) {
  const std::array<float, 6> floats{1, -2, 3.5, 0, 1e-30f, 6};
  const std::array<std::int64_t, 1> whole{-7};
  const std::vector<std::pair<std::string, Tensor>> arrays = {
      {"item0-input0", make_tensor<float>(DType::float32, {2, 3}, floats)},
      {"item0-input1", make_tensor<std::int64_t>(DType::int64, {}, whole)},
      {"item1-input0", Tensor{DType::float32, {0, 4}, {}, {}}}};
  ASSERT_TRUE(write_npz(path("a.npz"), arrays).ok());
  const auto file = NpzFile::open(path("a.npz"));
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->names(), (std::vector<std::string>{"item0-input0", "item0-input1", "item1-input0"}));
  for (const auto& [name, tensor] : arrays) {
    const auto read = file->read(name);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->dtype, tensor.dtype);
    EXPECT_EQ(read->shape, tensor.shape);
    EXPECT_TRUE(std::ranges::equal(read->data.span(), tensor.data.span()));
  }
}

TEST_F(WriteNpz, GivesTheSameBytesEveryTime) {
  const std::array<float, 1> one{1};
  const std::vector<std::pair<std::string, Tensor>> arrays = {{"x", make_tensor<float>(DType::float32, {1}, one)}};
  ASSERT_TRUE(write_npz(path("a.npz"), arrays).ok() && write_npz(path("b.npz"), arrays).ok());
  EXPECT_EQ(whole_file(path("a.npz")), whole_file(path("b.npz")));
  EXPECT_FALSE(whole_file(path("a.npz")).empty());
}

TEST_F(WriteNpz, RefusesWhatNumPyDoesNotHave) {
  const auto refused = write_npz(path("a.npz"), {{"x", Tensor{DType::float8e5m2, {1}, {}, {}}}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "'x' cannot be written: NumPy has no type float8e5m2");
}

TEST_F(WriteNpz, SaysWhereItCannotWrite) {
  const std::array<float, 1> one{1};
  const auto refused = write_npz("/nowhere/at/all.npz", {{"x", make_tensor<float>(DType::float32, {1}, one)}});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("cannot write '/nowhere/at/all.npz'"), std::string::npos);
}

}  // namespace
}  // namespace infermeter::write_npz_test
