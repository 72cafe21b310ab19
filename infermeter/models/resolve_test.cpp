#include "infermeter/models/resolve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "infermeter/models/test_folder.hpp"
#include "infermeter/models/zoo/zoo.hpp"

namespace infermeter::resolve_test {
namespace {

class ResolveModel : public testing::Test {
 protected:
  Result<ModelFacts> resolve(const std::string& model) { return resolve_model(model, folder_ / "cache"); }
  Error refused(const std::string& model) {
    const auto result = resolve(model);
    return result.ok() ? internal_error("it was resolved") : result.error();
  }

  TestFolder folder_;
};

TEST_F(ResolveModel, AZooNameIsBuiltIntoTheCache) {
  const auto facts = resolve("mlp");
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_TRUE(facts->from_zoo);
  EXPECT_EQ(facts->name, "mlp");
  EXPECT_EQ(facts->format, "onnx");
  EXPECT_EQ(facts->parameters, 3498U);
  EXPECT_EQ(facts->sha256, sha256_of_file(facts->path).value());
  EXPECT_EQ(facts->size_bytes, std::filesystem::file_size(facts->path));
}

TEST_F(ResolveModel, AFolderWithAConfigIsALanguageModelWithAllItsFiles) {
  std::filesystem::create_directories(folder_ / "chat/onnx");
  folder_.write("chat/config.json", "{}");
  folder_.write("chat/weights.safetensors", "1234");
  folder_.write("chat/.hidden", "x");
  const auto facts = resolve((folder_ / "chat").string());
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_EQ(facts->format, "hf");
  EXPECT_EQ(facts->path, (folder_ / "chat/config.json").string());
  EXPECT_EQ(facts->size_bytes, 6U);
  EXPECT_EQ(facts->weight_files, std::vector{(folder_ / "chat/weights.safetensors").string()});
  folder_.write("chat/weights.safetensors", "1235");
  EXPECT_NE(resolve((folder_ / "chat/config.json").string())->sha256, facts->sha256);
  std::filesystem::create_symlink("/etc/passwd", folder_ / "chat/more.safetensors");
  EXPECT_EQ(
      refused((folder_ / "chat").string()).message,
      "the model '" + (folder_ / "chat").string() +
          "' is refused: its weights are in 'more.safetensors', where 'more.safetensors' is a symbolic link; copy "
          "it with its files (cp -rL)");
}

TEST_F(ResolveModel, TheSameModelAsAFileHasTheSameSum) {
  ASSERT_TRUE(build_zoo_model("mlp", folder_ / "Mine.ONNX").ok());
  const auto facts = resolve((folder_ / "Mine.ONNX").string());
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_FALSE(facts->from_zoo);
  EXPECT_EQ(facts->format, "onnx");
  EXPECT_EQ(facts->parameters, 3498U);
  EXPECT_EQ(facts->sha256, resolve("mlp")->sha256);
}

TEST_F(ResolveModel, NearNamesAreProposed) {
  EXPECT_EQ(refused("resnet51").message,
            "unknown model 'resnet51': it is neither a file nor in the zoo; did you mean 'resnet50'? "
            "(`infermeter models` lists them)");
  EXPECT_EQ(refused("bert").message,
            "unknown model 'bert': it is neither a file nor in the zoo (`infermeter models` lists what is)");
  EXPECT_EQ(refused("bert").kind, ErrorKind::usage);
}

TEST_F(ResolveModel, HostileNamesAreUnknownModels) {
  for (const std::string& name : {std::string(), std::string(1'000'000, 'a'), std::string("mlp\0", 4)}) {
    EXPECT_EQ(refused(name).message.find('\0'), std::string::npos);
    EXPECT_THAT(refused(name).message, testing::StartsWith("unknown model '"));
    EXPECT_LT(refused(name).message.size(), 400U);
  }
}

TEST_F(ResolveModel, OnlyRegularFilesWithSomethingInThem) {
  const auto fifo = folder_ / "fifo.onnx";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(refused(fifo.string()).message, "the model '" + fifo.string() + "' is not a regular file");
  EXPECT_EQ(refused(folder_.path().string()).message,
            "the model '" + folder_.path().string() + "' is not a regular file");
  const auto empty = folder_.write("empty.onnx", "");
  EXPECT_EQ(refused(empty.string()).message, "the model file '" + empty.string() + "' is empty");
  EXPECT_EQ(refused(empty.string()).kind, ErrorKind::model);
  EXPECT_EQ(refused((folder_ / std::string(300, 'n')).string()).message.substr(0, 26), "cannot read the model file");
}

TEST_F(ResolveModel, CodeIsRefusedUnlessItIsAllowed) {
  for (const char* name : {"m.pt", "m.PTH", "m.pt2", "m.pkl", "m.pickle", "m.joblib", "m.torchscript"}) {
    const auto file = folder_.write(name, "whatever");
    EXPECT_EQ(refused(file.string()).message,
              "'" + file.string() +
                  "' contains code (loading it runs that code): add --allow-code if you trust it, or "
                  "export it to ONNX");
    EXPECT_EQ(refused(file.string()).kind, ErrorKind::model);
    const auto facts = resolve_model(file.string(), folder_ / "cache", {.allow_code = true});
    ASSERT_TRUE(facts.ok()) << facts.error().message;
    EXPECT_EQ(facts->path, file.string());
    EXPECT_EQ(facts->size_bytes, 8U);
    EXPECT_EQ(facts->sha256, sha256_of_text("whatever"));
    EXPECT_EQ(facts->parameters, std::nullopt);
  }
  EXPECT_EQ(resolve_model((folder_ / "m.PTH").string(), folder_ / "cache", {.allow_code = true})->format, "pth");
}

TEST_F(ResolveModel, APythonFileNeedsAFunction) {
  const auto file = folder_.write("models.py", "def make(): pass");
  EXPECT_EQ(refused(file.string()).message, "'" + file.string() +
                                                "' is Python code: name the function in it that makes the model, "
                                                "models.py:FACTORY");
}

TEST_F(ResolveModel, AFactoryOfAFile) {
  const auto file = folder_.write("models.py", "def make(): pass");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const auto facts = resolve("./models.py:make");
  std::filesystem::current_path(before);
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_EQ(facts->name, "./models.py:make");
  EXPECT_EQ(facts->path, file.string() + ":make");
  EXPECT_EQ(facts->format, "python");
  EXPECT_EQ(facts->size_bytes, 0U);  // of the model, which is not made yet
  EXPECT_EQ(facts->parameters, std::nullopt);
  EXPECT_NE(facts->sha256, resolve(file.string() + ":other")->sha256) << "another function is another model";
  folder_.write("models.py", "def make(): 0   ");
  EXPECT_NE(facts->sha256, resolve(file.string() + ":make")->sha256) << "so is another text";
}

TEST_F(ResolveModel, AFactoryOfAFileThatIsNotThereOrNoFile) {
  const auto file = folder_ / "models.py";
  EXPECT_EQ(refused(file.string() + ":make").message,
            "the model '" + file.string() + ":make' is made by a file that is not there, '" + file.string() + "'");
  EXPECT_EQ(refused(file.string() + ":make").kind, ErrorKind::usage);
  std::filesystem::create_directory(file);
  EXPECT_EQ(refused(file.string() + ":make").message, "the model '" + file.string() + "' is not a regular file");
}

TEST_F(ResolveModel, AFactoryOfAModule) {
  const auto facts = resolve("package.module:make");
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_EQ(facts->path, "package.module:make");
  EXPECT_EQ(facts->format, "python");
  EXPECT_EQ(facts->size_bytes, 0U);
  EXPECT_EQ(facts->sha256, sha256_of_text("package.module:make"));
}

TEST_F(ResolveModel, AFileOfExactlyThatNameComesFirst) {
  folder_.write("models.py", "def make(): pass");
  const auto odd = folder_.write("models.py:make", "x");
  EXPECT_EQ(resolve(odd.string())->format, "py:make");
  EXPECT_EQ(resolve(odd.string())->size_bytes, 1U);
}

TEST_F(ResolveModel, OpenVinoNeedsItsWeights) {
  const auto xml = folder_.write("net.xml", "<?xml version=\"1.0\"?>\n<net name=\"x\" version=\"11\">");
  EXPECT_EQ(refused(xml.string()).message,
            "the OpenVINO model '" + xml.string() + "' lacks its weights: there is no file 'net.bin' beside it");
  folder_.write("net.bin", "12345");
  const auto facts = resolve(xml.string());
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_EQ(facts->format, "xml");
  EXPECT_EQ(facts->parameters, std::nullopt);
  EXPECT_THAT(facts->weight_files, testing::ElementsAre((folder_ / "net.bin").string()));
  EXPECT_EQ(facts->size_bytes, std::filesystem::file_size(xml) + 5);
  folder_.write("net.bin", "54321");
  EXPECT_NE(resolve(xml.string())->sha256, facts->sha256) << "the weights are part of the model";
  const auto other = folder_.write("page.xml", "<html>");
  EXPECT_EQ(refused(other.string()).message,
            "'" + other.string() + "' is not an OpenVINO model: it has no <net> at its beginning");
}

TEST_F(ResolveModel, OpenVinosWeightsAreNoLink) {
  const auto xml = folder_.write("net.xml", "<?xml version=\"1.0\"?>\n<net name=\"x\" version=\"11\">");
  const auto real = folder_.write("real.bin", "12345");
  std::filesystem::create_symlink(real, folder_ / "net.bin");
  EXPECT_EQ(refused(xml.string()).message, "'" + xml.string() +
                                               "' is refused: its weights are in 'net.bin', where 'net.bin' is a "
                                               "symbolic link");
  std::filesystem::remove(folder_ / "net.bin");
  std::filesystem::create_hard_link(real, folder_ / "net.bin");  // the file itself, by another name
  EXPECT_TRUE(resolve(xml.string()).ok());
}

TEST_F(ResolveModel, OtherEndingsPassThrough) {
  EXPECT_EQ(resolve(folder_.write("m.tflite", "TFL3").string())->format, "tflite");
  EXPECT_EQ(resolve(folder_.write("m.fake", "x").string())->format, "fake");
  EXPECT_EQ(resolve(folder_.write("model", "x").string())->format, "");
}

TEST_F(ResolveModel, ExternalDataIsCheckedAndCounted) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  auto* tensor = model.mutable_graph()->add_initializer();
  tensor->set_name("w");
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = tensor->add_external_data();
  entry->set_key("location");
  entry->set_value("w.bin");
  folder_.write("w.bin", "1234");
  const auto file = folder_.write("m.onnx", model.SerializeAsString());
  const auto facts = resolve(file.string());
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_EQ(facts->size_bytes, std::filesystem::file_size(file) + 4);
  EXPECT_THAT(facts->weight_files, testing::ElementsAre((folder_ / "w.bin").string()));
  entry->set_value("../w.bin");
  folder_.write("m.onnx", model.SerializeAsString());
  EXPECT_EQ(refused(file.string()).message,
            "'" + file.string() +
                "' is refused: tensor 'w' keeps its data in '../w.bin', which leaves the model's "
                "folder by '..'; a model's data must lie in its own folder");
}

TEST_F(ResolveModel, PathsBecomeAbsolute) {
  folder_.write("m.fake", "x");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const auto facts = resolve("./m.fake");
  std::filesystem::current_path(before);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->path, (folder_ / "m.fake").string());
  EXPECT_EQ(facts->name, "./m.fake");
}

TEST(Sha256, IsTheStandards) {
  TestFolder folder;
  // FIPS 180-2, appendix B.1 and B.3
  EXPECT_EQ(sha256_of_file(folder.write("abc", "abc")).value(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of_file(folder.write("million", std::string(1'000'000, 'a'))).value(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  const auto gone = folder / "gone";
  EXPECT_EQ(sha256_of_file(gone).error().message, "cannot read '" + gone.string() + "': No such file or directory");
  EXPECT_EQ(sha256_of_file(folder.path()).error().message,
            "cannot read '" + folder.path().string() + "': Is a directory");
}

class DefaultCache : public testing::Test {
 protected:
  DefaultCache() {
    for (const char* name : names) {
      if (const char* value = std::getenv(name)) before_.emplace_back(name, value);
      unsetenv(name);
    }
  }
  ~DefaultCache() override {
    for (const char* name : names) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  static constexpr std::array names = {"INFERMETER_CACHE", "XDG_CACHE_HOME", "HOME", "TMPDIR"};
  std::vector<std::pair<std::string, std::string>> before_;
};

TEST_F(DefaultCache, FirstOfFourPlaces) {
  setenv("TMPDIR", "/tmp", 1);
  EXPECT_EQ(default_cache(), "/tmp/infermeter-" + std::to_string(getuid()));
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(default_cache(), "/home/me/.cache/infermeter");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(default_cache(), "/home/me/.cache/infermeter");
  setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(default_cache(), "/caches/infermeter");
  setenv("INFERMETER_CACHE", "/own", 1);
  EXPECT_EQ(default_cache(), "/own");
}

}  // namespace
}  // namespace infermeter::resolve_test
