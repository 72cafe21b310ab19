// The table, the runtime's facts, and the caller's message buffer.
#include <gmock/gmock.h>

#include <set>
#include <string_view>

#include "backend_under_test.hpp"

namespace infermeter::backend_runtime_test {
namespace {

using testing::HasSubstr;
using testing::StrNe;

struct RuntimeTest : BackendTest {};

TEST_F(RuntimeTest, TableSaysItsVersionAndSizeAndHasEverySlotThatIsNotOptional) {
  EXPECT_EQ(under_test().abi_version, IMB_ABI_VERSION);
  EXPECT_EQ(table().abi_version, IMB_ABI_VERSION);
  EXPECT_EQ(table().struct_size, sizeof(imb_backend));
  EXPECT_TRUE(table().open_runtime && table().runtime_info && table().close_runtime);
  EXPECT_TRUE(table().load && table().close && table().input_count && table().output_count);
  EXPECT_TRUE(table().input && table().output && table().create_request && table().destroy_request);
  EXPECT_TRUE(table().bind_input && table().run && table().output_value && table().executed);
  EXPECT_EQ(table().submit == nullptr, table().wait == nullptr);
  EXPECT_EQ(table().profile_begin == nullptr, table().profile_end == nullptr);
}

TEST_F(RuntimeTest, FactsAreWhole) {
  EXPECT_EQ(info().struct_size, sizeof(imb_runtime_info));
  EXPECT_THAT(under_test().plugin, testing::EndsWith("infermeter_backend_" + std::string(info().name) + ".so"));
  EXPECT_THAT(info().runtime_name, StrNe(""));
  EXPECT_THAT(info().runtime_version, StrNe(""));
  EXPECT_NE(info().library, nullptr);
  EXPECT_THAT(info().model_formats, StrNe(""));
  EXPECT_GE(info().concurrent_requests, 0);
  const std::set<std::string> devices(info().devices, info().devices + info().device_count);
  const std::set<std::string> dtypes(info().dtypes, info().dtypes + info().dtype_count);
  EXPECT_EQ(devices.size(), info().device_count);
  EXPECT_TRUE(devices.contains(under_test().device));
  EXPECT_TRUE(dtypes.contains("float32"));
  for (const std::string& dtype : dtypes) EXPECT_THAT(dtype, testing::AnyOf("float32", "float16", "bfloat16"));
}

TEST_F(RuntimeTest, OptionsAreDocumentedInOneLineEachAndAreDifferent) {
  std::set<std::string> keys;
  for (std::size_t i = 0; i < info().option_count; ++i) {
    const imb_option& option = info().options[i];
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
    EXPECT_EQ(std::string_view(option.key).find_first_of("= ,"), std::string_view::npos) << option.key;
    EXPECT_THAT(option.values, StrNe("")) << option.key;
    EXPECT_THAT(option.help, StrNe("")) << option.key;
    EXPECT_EQ(std::string_view(option.help).find('\n'), std::string_view::npos) << option.key;
  }
}

TEST_F(RuntimeTest, FactsStayWhereTheyAre) {
  const imb_runtime_info* before = table().runtime_info(runtime_.get());
  EXPECT_EQ(table().runtime_info(runtime_.get()), before);
}

TEST_F(RuntimeTest, SeveralRuntimesMayBeOpenAndAreClosedInAnyOrder) {
  auto second = open_runtime(), third = open_runtime();
  ASSERT_EQ(second.status, IMB_OK) << second.message;
  ASSERT_EQ(third.status, IMB_OK) << third.message;
  second.value.reset();
  runtime_.reset();
  EXPECT_EQ(load(third.value).status, IMB_OK);
}

TEST_F(RuntimeTest, NamedLibraryIsTheOnlyPlaceSearched) {
  if (*info().library == '\0') GTEST_SKIP() << "built in";
  const auto missing = open_runtime("/nonexistent/lib.so");
  EXPECT_EQ(missing.status, IMB_LIBRARY_MISSING);
  EXPECT_THAT(missing.message, HasSubstr("/nonexistent/lib.so"));
  const auto same = open_runtime(info().library);
  ASSERT_EQ(same.status, IMB_OK) << same.message;
  EXPECT_STREQ(table().runtime_info(same.value.get())->library, info().library);
}

TEST_F(RuntimeTest, ForeignLibraryIsRefusedByName) {
  if (*info().library == '\0') GTEST_SKIP() << "built in";
  const auto text = open_runtime("/etc/passwd");
  EXPECT_EQ(text.status, IMB_LIBRARY_MISSING);
  EXPECT_THAT(text.message, HasSubstr("/etc/passwd"));
  const auto plugin = open_runtime(under_test().plugin);  // a library, but not the runtime's
  EXPECT_EQ(plugin.status, IMB_LIBRARY_TOO_OLD);
  EXPECT_THAT(plugin.message, HasSubstr(under_test().plugin));
}

TEST_F(RuntimeTest, LibraryThatIsNowhereIsToldWithARemedy) {
  if (*info().library == '\0') GTEST_SKIP() << "built in";
  if (under_test().without_python.empty()) GTEST_SKIP() << "the system has it";
  EXPECT_THAT(under_test().without_python, testing::AnyOf(HasSubstr("pip install"), HasSubstr("apt install")));
  EXPECT_THAT(under_test().without_python, HasSubstr("--backend-library"));
}

TEST_F(RuntimeTest, MessageIsTerminatedAndNothingBesideItIsTouchedWhateverItsSize) {
  const std::string model = "/nonexistent/\xC3\xA4\xC3\xB6\xC3\xBC.onnx";
  const imb_load what{.struct_size = sizeof(imb_load),
                      .model_path = model.c_str(),
                      .device = "\xC3\xA4\xC3\xB6\xC3\xBC",  // refused by every back end
                      .dtype = "float32",
                      .threads = 1,
                      .batch = 0,
                      .dimension_count = 0,
                      .dimensions = nullptr,
                      .option_count = 0,
                      .options = nullptr,
                      .model_base_folder = nullptr,
                      .zoo_name = nullptr,
                      .profile_folder = nullptr,
                      .cache_folder = nullptr,
                      .preparing = 0,
                      .batch_axes = nullptr,
                      .batch_axes_user = nullptr,
                      .data_shape = nullptr,
                      .server_addresses = nullptr,
                      .server_token = nullptr};
  for (std::size_t capacity = 0; capacity < 80; ++capacity) {
    Message message(capacity);
    imb_session* session = nullptr;
    EXPECT_NE(table().load(runtime_.get(), &what, &session, message.view()), IMB_OK);
    EXPECT_EQ(session, nullptr);
    EXPECT_TRUE(message.intact()) << capacity;
    if (capacity == 0) continue;
    ASSERT_TRUE(message.terminated()) << capacity;
    const std::string text = message.text();
    EXPECT_TRUE(text.empty() || (static_cast<unsigned char>(text.back()) & 0xC0) != 0xC0) << "cut inside of a letter";
  }
}

TEST_F(RuntimeTest, NoMessageBufferIsFine) {
  const imb_environment environment{sizeof(imb_environment), "/nonexistent/lib.so", 0, nullptr, nullptr};
  imb_runtime* runtime = nullptr;
  if (table().open_runtime(&environment, &runtime, imb_message{nullptr, 0}) == IMB_OK) table().close_runtime(runtime);
}

}  // namespace
}  // namespace infermeter::backend_runtime_test
