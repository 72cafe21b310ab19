// Loading: what is refused and how it is said; what the ports say afterwards.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "backend_under_test.hpp"

namespace infermeter::backend_load_test {
namespace {

using testing::HasSubstr;

struct LoadTest : BackendTest {
  // A file in the temporary folder that is gone with the test.
  struct File {
    std::filesystem::path path;
    explicit File(const std::string& bytes) : path(std::filesystem::temp_directory_path() / "conformance_load.onnx") {
      std::ofstream(path, std::ios::binary) << bytes;
    }
    ~File() { std::filesystem::remove(path); }
  };
  static std::string model_bytes() {
    std::ifstream file(under_test().model, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void expect_refused(const std::string& bytes, const std::string& what) const {
    const File file(bytes);
    const auto outcome = load(runtime_, {.model = file.path});
    EXPECT_EQ(outcome.status, IMB_MODEL_ERROR) << what;
    EXPECT_THAT(outcome.message, HasSubstr(file.path.string())) << what;
  }
};

TEST_F(LoadTest, UnknownOptionIsNamedAndTheKnownOnesAreListed) {
  const auto outcome = load(runtime_, {.options = {{"no_such_option", "1"}}});
  EXPECT_EQ(outcome.status, IMB_INVALID_ARGUMENT);
  EXPECT_THAT(outcome.message, HasSubstr("no_such_option"));
  ASSERT_GT(info().option_count, 0u);
  EXPECT_THAT(outcome.message, HasSubstr(info().options[0].key));
}

TEST_F(LoadTest, OptionValuesOutsideOfTheirListAreRefusedByKey) {
  for (std::size_t i = 0; i < info().option_count; ++i) {
    const imb_option& option = info().options[i];
    const std::string_view values = option.values;
    if (values != "true|false" && values != "N") continue;
    for (const char* value : {"", "maybe", "-7", "99999999999999999999"}) {
      const auto outcome = load(runtime_, {.options = {{option.key, value}}});
      EXPECT_EQ(outcome.status, IMB_INVALID_ARGUMENT) << option.key << "=" << value;
      EXPECT_THAT(outcome.message, HasSubstr(std::string(option.key) + "=" + option.values));
    }
  }
}

TEST_F(LoadTest, EveryValueOfAListedChoiceIsTaken) {
  for (std::size_t i = 0; i < info().option_count; ++i) {
    const imb_option& option = info().options[i];
    if (std::string_view(option.values) != "true|false") continue;
    for (const char* value : {"true", "false"}) {
      const auto outcome = load(runtime_, {.options = {{option.key, value}}});
      EXPECT_EQ(outcome.status, IMB_OK) << option.key << "=" << value << ": " << outcome.message;
    }
  }
}

TEST_F(LoadTest, UnknownDeviceIsUnsupportedAndNamed) {
  const auto outcome = load(runtime_, {.device = "abacus"});
  EXPECT_EQ(outcome.status, IMB_UNSUPPORTED);
  EXPECT_THAT(outcome.message, HasSubstr("abacus"));
  EXPECT_THAT(outcome.message, HasSubstr(under_test().device));
}

TEST_F(LoadTest, UnknownDtypeIsUnsupportedAndNamed) {
  const auto outcome = load(runtime_, {.dtype = "float7"});
  EXPECT_EQ(outcome.status, IMB_UNSUPPORTED);
  EXPECT_THAT(outcome.message, HasSubstr("float7"));
  EXPECT_THAT(outcome.message, HasSubstr("float32"));
}

TEST_F(LoadTest, DtypeIsExecutedAsAskedOrRefused) {
  for (const char* dtype : {"float32", "float16", "bfloat16"}) {
    auto loaded = load(runtime_, {.dtype = dtype});
    if (loaded.status != IMB_OK) {
      EXPECT_EQ(loaded.status, IMB_UNSUPPORTED);
      EXPECT_THAT(loaded.message, HasSubstr(dtype));
      continue;
    }
    std::map<std::string, std::string> facts;
    const auto note = [](void* user, const char* name, const char* value) {
      (*static_cast<std::map<std::string, std::string>*>(user))[name] = value;
    };
    Message message;
    ASSERT_EQ(table().executed(loaded.value.get(), note, &facts, message.view()), IMB_OK) << message.text();
    EXPECT_EQ(facts["dtype"], dtype);
    if (under_test().device == "cpu") {
      EXPECT_EQ(facts["threads"], "1");
    }
    EXPECT_EQ(facts["device"], under_test().device);
    EXPECT_NE(facts["provider"], "");
  }
}

TEST_F(LoadTest, UnknownDimensionIsNamedAndTheDynamicOnesAreListed) {
  const auto outcome = load(runtime_, {.dimensions = {{"no_such_dimension", "3"}}});
  EXPECT_EQ(outcome.status, IMB_INVALID_ARGUMENT);
  EXPECT_THAT(outcome.message, HasSubstr("no_such_dimension"));
  EXPECT_THAT(outcome.message, HasSubstr("batch"));
}

TEST_F(LoadTest, DimensionsAreFixedByNameByPlaceAndByBatch) {
  const auto first_dimension = [&](const LoadRequest& request) {
    const auto loaded = load(runtime_, request);
    EXPECT_EQ(loaded.status, IMB_OK) << loaded.message;
    return loaded.value == nullptr ? -7 : table().input(loaded.value.get(), 0)->shape[0];
  };
  const auto loaded = load(runtime_);
  ASSERT_EQ(loaded.status, IMB_OK) << loaded.message;
  const std::string place = std::string(table().input(loaded.value.get(), 0)->name) + ".0";
  EXPECT_EQ(first_dimension({.batch = 0}), -1);
  EXPECT_EQ(first_dimension({.batch = 3}), 3);
  EXPECT_EQ(first_dimension({.batch = 0, .dimensions = {{"batch", "5"}}}), 5);
  EXPECT_EQ(first_dimension({.batch = 3, .dimensions = {{"batch", "5"}}}), 5);
  EXPECT_EQ(first_dimension({.batch = 0, .dimensions = {{place, "6"}}}), 6);
}

TEST_F(LoadTest, ImpossibleSizesAreRefused) {
  for (const char* size : {"", "0", "-1", "x", "1e3", "99999999999999999999"}) {
    const auto outcome = load(runtime_, {.dimensions = {{"batch", size}}});
    EXPECT_EQ(outcome.status, IMB_INVALID_ARGUMENT) << size;
    EXPECT_THAT(outcome.message, HasSubstr("batch"));
  }
}

TEST_F(LoadTest, MissingModelIsNamed) {
  if (!reads_models()) GTEST_SKIP();
  const auto outcome = load(runtime_, {.model = "/nonexistent/model.onnx"});
  EXPECT_EQ(outcome.status, IMB_MODEL_ERROR);
  EXPECT_THAT(outcome.message, HasSubstr("/nonexistent/model.onnx"));
}

TEST_F(LoadTest, FilesThatAreNoModelAreRefused) {
  if (!reads_models()) GTEST_SKIP();
  expect_refused("", "empty");
  expect_refused(std::string(4096, '\0'), "zeros");
  expect_refused("this is text, and not a model\n", "text");
  expect_refused(std::string(4096, '\xFF'), "a number without end");
}

TEST_F(LoadTest, CutModelIsRefusedOrRightAndNeverCrashes) {
  if (!reads_models()) GTEST_SKIP();
  const std::string whole = model_bytes();
  ASSERT_GT(whole.size(), 64u);
  for (std::size_t i = 1; i <= 8; ++i) expect_refused(whole.substr(0, whole.size() * i / 9), "cut");
}

TEST_F(LoadTest, PortsAreSane) {
  const auto loaded = load(runtime_, {.batch = 3});
  ASSERT_EQ(loaded.status, IMB_OK) << loaded.message;
  imb_session* session = loaded.value.get();
  ASSERT_GT(table().input_count(session), 0u);
  ASSERT_GT(table().output_count(session), 0u);
  std::set<std::string> names;
  const auto check = [&](const imb_port& port, bool is_output) {
    EXPECT_TRUE(names.insert(port.name).second) << port.name;
    EXPECT_EQ(port.kind, IMB_TENSOR);
    if (is_output && !port.rank_known) return;  // only a run can tell
    EXPECT_EQ(port.dtype, IMB_FLOAT32);
    ASSERT_TRUE(port.rank_known);
    ASSERT_GE(port.rank, 1u);
    EXPECT_EQ(port.shape[0], 3) << port.name;
    for (std::size_t i = 0; i < port.rank; ++i) EXPECT_NE(port.dimension_names[i], nullptr);
  };
  for (std::size_t i = 0; i < table().input_count(session); ++i) check(*table().input(session, i), false);
  for (std::size_t i = 0; i < table().output_count(session); ++i) check(*table().output(session, i), true);
}

TEST_F(LoadTest, DynamicDimensionsHaveNames) {
  const auto loaded = load(runtime_, {.batch = 0});
  ASSERT_EQ(loaded.status, IMB_OK) << loaded.message;
  const imb_port& port = *table().input(loaded.value.get(), 0);
  EXPECT_EQ(port.shape[0], -1);
  EXPECT_STREQ(port.dimension_names[0], "batch");
}

}  // namespace
}  // namespace infermeter::backend_load_test
