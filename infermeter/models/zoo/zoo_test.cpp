#include "infermeter/models/zoo/zoo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "infermeter/models/resolve.hpp"
#include "infermeter/models/test_folder.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter::zoo_test {
namespace {

using testing::HasSubstr;

const ZooModel& entry(std::string_view name) {
  for (const auto& model : zoo()) {
    if (model.name == name) return model;
  }
  ADD_FAILURE() << name;
  return zoo().front();
}

std::string input_shape(const OnnxSummary& summary) {
  std::string text = summary.inputs.at(0).dimension_names.at(0);
  for (std::size_t i = 1; i < summary.inputs[0].shape.size(); ++i) {
    text += " x " + std::to_string(summary.inputs[0].shape[i]);
  }
  return text;
}

class ZooModels : public testing::TestWithParam<std::string> {};

TEST_P(ZooModels, IsWhatTheTableSays) {
  TestFolder folder;
  const auto file = folder / "model.onnx";
  const auto built = build_zoo_model(GetParam(), file);
  ASSERT_TRUE(built.ok()) << built.error().message;
  const ZooModel& model = entry(GetParam());
  EXPECT_EQ(std::filesystem::file_size(file), model.size_bytes);
  const auto summary = read_onnx_summary(file);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->parameters, model.parameters);
  EXPECT_EQ(summary->nonzero_parameters, model.nonzero_parameters);
  EXPECT_EQ(summary->ir_version, 8);
  EXPECT_EQ(summary->opset, 17);
  EXPECT_EQ(summary->inputs.size(), 1U);
  EXPECT_EQ(summary->inputs.at(0).name, "input");
  EXPECT_EQ(summary->inputs.at(0).dtype, DType::float32);
  EXPECT_EQ(summary->inputs.at(0).shape.at(0), -1);
  EXPECT_EQ(input_shape(*summary), model.input_shape);
  EXPECT_EQ(summary->outputs.at(0).name, "output");
  EXPECT_TRUE(summary->external.empty());
}

// The largest one takes long to make without optimisation.
#ifdef __OPTIMIZE__
INSTANTIATE_TEST_SUITE_P(Large, ZooModels, testing::Values("vit_b_16"));
#endif
INSTANTIATE_TEST_SUITE_P(Zoo, ZooModels, testing::Values("resnet50", "mobilenet_v3_small", "unet2d", "unet3d", "mlp"));

TEST(CachedZooModel, ALanguageModelIsAFolderThatTheTableDescribesAndIsWrittenAgainWhereItIsNotWhole) {
  TestFolder folder;
  const ZooModel& model = entry("tiny_llama");
  const auto config = cached_zoo_model("tiny_llama", folder.path());
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->filename(), "config.json");
  const auto place = config->parent_path();
  const auto facts = resolve_model(place.string(), folder / "cache");
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_EQ(facts->format, model.format);
  EXPECT_EQ(facts->sha256, model.sha256);
  EXPECT_EQ(facts->size_bytes, model.size_bytes);
  EXPECT_EQ(facts->weight_files.size(), 4U);
  const std::string weights = whole_file(place / "model.safetensors");
  std::uint64_t head_size = 0;
  std::memcpy(&head_size, weights.data(), sizeof head_size);
  EXPECT_EQ(weights.size(), sizeof head_size + head_size + model.parameters * sizeof(float));
  EXPECT_EQ((sizeof head_size + head_size) % sizeof(float), 0U);
  const auto tokenizer = place / "tokenizer.json";
  const std::string before = whole_file(tokenizer);
  std::filesystem::remove(tokenizer);
  ASSERT_TRUE(cached_zoo_model("tiny_llama", folder.path()).ok());
  EXPECT_EQ(whole_file(tokenizer), before);
}

TEST(Zoo, AnInterruptedBuildLeavesNoFile) {
  const TestFolder folder;
  const std::atomic<int> interrupt = 1;
  const auto built = build_zoo_model("mlp", folder.path() / "mlp.onnx", &interrupt);
  ASSERT_FALSE(built.ok());
  EXPECT_THAT(built.error().message, testing::HasSubstr("interrupted"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Zoo, CountsAreTorchvisions) {
  EXPECT_EQ(entry("resnet50").parameters, 25'557'032U);
  EXPECT_EQ(entry("vit_b_16").parameters, 86'567'656U);
  EXPECT_EQ(entry("mobilenet_v3_small").parameters, 2'542'856U);
}

TEST(Zoo, RefusesWhatItDoesNotHave) {
  TestFolder folder;
  EXPECT_EQ(build_zoo_model("vgg16", folder / "x").error().message,
            "'vgg16' is not in the zoo (`infermeter models` lists what is)");
  EXPECT_EQ(cached_zoo_model("vgg16", folder.path()).error().kind, ErrorKind::usage);
}

TEST(Zoo, SaysWhereItCannotWrite) {
  TestFolder folder;
  const auto file = folder / "no" / "such" / "folder.onnx";
  const auto result = build_zoo_model("mlp", file);
  EXPECT_EQ(result.error().kind, ErrorKind::io);
  EXPECT_EQ(result.error().message, "cannot write '" + file.string() + "': No such file or directory");
}

TEST(Zoo, AFullDiskLeavesNothing) {
  TestFolder folder;
  const auto before = folder.write("model.onnx", "what was there");
  rlimit unlimited{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  const rlimit small{.rlim_cur = 4096, .rlim_max = unlimited.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto result = build_zoo_model("mlp", before);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "cannot write '" + before.string() + "': File too large");
  EXPECT_EQ(whole_file(before), "what was there");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(CachedZooModel, IsBuiltOnce) {
  TestFolder folder;
  const auto first = cached_zoo_model("mlp", folder.path());
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first->filename().string(), "mlp-" + std::string(entry("mlp").sha256.substr(0, 12)) + ".onnx");
  struct stat before{};
  struct stat after{};
  ASSERT_EQ(stat(first->c_str(), &before), 0);
  ASSERT_TRUE(cached_zoo_model("mlp", folder.path()).ok());
  ASSERT_EQ(stat(first->c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST(CachedZooModel, IsBuiltAgainWhereItIsNotWhole) {
  TestFolder folder;
  const auto file = cached_zoo_model("mlp", folder.path()).value();
  std::filesystem::resize_file(file, 100);
  const auto leftover = file.parent_path() / ("." + file.filename().string() + ".part-abcdef");
  std::ofstream(leftover) << "of a writer that was killed";
  ASSERT_TRUE(cached_zoo_model("mlp", folder.path()).ok());
  EXPECT_EQ(sha256_of_file(file).value(), entry("mlp").sha256);
  EXPECT_FALSE(std::filesystem::exists(leftover));
}

TEST(CachedZooModel, ManyAtOnceGetTheSameWholeFile) {
  TestFolder folder;
  std::vector<std::thread> threads;
  std::vector<std::string> sums(8);
  for (auto& sum : sums) {
    threads.emplace_back([&folder, &sum] {
      const auto file = cached_zoo_model("mlp", folder.path());
      if (file.ok()) sum = sha256_of_file(*file).value();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(sums, testing::Each(std::string(entry("mlp").sha256)));
}

TEST(CachedZooModel, SaysWhichFolderCannotBeWritten) {
  TestFolder folder;
  const auto file = folder.write("a_file", "x");
  const auto result = cached_zoo_model("mlp", file);
  EXPECT_EQ(result.error().message, "cannot write to the cache folder '" + (file / "zoo").string() +
                                        "': Not a directory; name another one with INFERMETER_CACHE");
}

}  // namespace
}  // namespace infermeter::zoo_test
