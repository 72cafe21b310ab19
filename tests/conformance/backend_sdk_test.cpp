// What the plug-ins share: messages, element types, dimensions, and the reading of hostile ONNX files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sdk/abi_edge.hpp"
#include "sdk/dimensions.hpp"
#include "sdk/elements.hpp"
#include "sdk/library_search.hpp"
#include "sdk/onnx_declaration.hpp"

namespace infermeter::backend_sdk_test {
namespace {

using testing::ElementsAre;

std::string written(std::string_view text, std::size_t capacity) {
  std::string buffer(capacity, '#');
  write_message({buffer.data(), capacity}, text);
  return buffer.c_str();
}

TEST(AbiEdge, MessageIsCutBetweenLettersAndHasNoControlCharacters) {
  EXPECT_EQ(written("abc", 8), "abc");
  EXPECT_EQ(written("abcdef", 4), "abc");
  EXPECT_EQ(written("ab\xC3\xA4", 4), "ab") << "the first half of a letter is worse than none";
  EXPECT_EQ(written("ab\xC3\xA4", 5), "ab\xC3\xA4");
  EXPECT_EQ(written("a\nb\x1B[31m\x7F", 16), "a b [31m ");
}

TEST(AbiEdge, WhateverIsThrownBecomesAStatus) {
  std::string buffer(64, '#');
  const imb_message message{buffer.data(), buffer.size()};
  EXPECT_EQ(guarded(message, IMB_RUN_ERROR, [] { fail(IMB_UNSUPPORTED, "no"); }), IMB_UNSUPPORTED);
  EXPECT_STREQ(buffer.c_str(), "no");
  EXPECT_EQ(guarded(message, IMB_RUN_ERROR, [] { throw std::bad_alloc(); }), IMB_OUT_OF_MEMORY);
  EXPECT_EQ(guarded(message, IMB_RUN_ERROR, [] { throw std::runtime_error("why"); }), IMB_RUN_ERROR);
  EXPECT_STREQ(buffer.c_str(), "why");
  EXPECT_EQ(guarded(message, IMB_RUN_ERROR, [] { throw 1; }), IMB_RUN_ERROR);
  EXPECT_EQ(guarded(message, IMB_RUN_ERROR, [] {}), IMB_OK);
  EXPECT_STREQ(buffer.c_str(), "");
}

TEST(Elements, BytesAreRoundedUpForPackedTypesAndNeverOverflow) {
  const auto bytes = [](imb_dtype dtype, std::vector<std::int64_t> shape) { return bytes_of(dtype, shape); };
  EXPECT_EQ(bytes(IMB_FLOAT32, {2, 3}), 24u);
  EXPECT_EQ(bytes(IMB_INT4, {3}), 2u);
  EXPECT_EQ(bytes(IMB_COMPLEX128, {}), 16u);
  EXPECT_EQ(bytes(IMB_FLOAT32, {0, 1LL << 62}), 0u);
  EXPECT_EQ(bytes(IMB_FLOAT32, {1LL << 40, 1LL << 40}), std::nullopt);
  EXPECT_EQ(bytes(IMB_COMPLEX128, {1LL << 62}), std::nullopt);
  EXPECT_EQ(bytes(IMB_FLOAT32, {-1}), std::nullopt);
  EXPECT_EQ(bytes(IMB_STRING, {1}), std::nullopt);
  for (std::size_t i = 0; i < element_types.size(); ++i) EXPECT_EQ(element_types[i].dtype, static_cast<imb_dtype>(i));
}

TEST(LibrarySearch, FolderNamesArePlain) { EXPECT_EQ(glob_escaped("/a[b]*?\\"), "/a\\[b]\\*\\?\\\\"); }

// Protocol buffers by hand: a tag and a length below 128 are one byte each.
std::string field(int number, const std::string& bytes) {
  return static_cast<char>(number << 3 | 2) + std::string(1, static_cast<char>(bytes.size())) + bytes;
}
std::string value(int number, int integer) { return {static_cast<char>(number << 3), static_cast<char>(integer)}; }

std::string port_bytes(const std::string& name, const std::string& dimensions) {
  return field(1, name) + field(2, field(1, value(1, 1) + field(2, dimensions)));
}

std::string model_bytes() {
  const std::string dimensions = field(1, field(2, "batch")) + field(1, value(1, 3)) + field(1, "");
  const std::string weight = value(1, 4) + value(2, 10) + field(8, "w");
  const std::string graph = field(5, weight) + field(11, port_bytes("x", dimensions)) + field(11, port_bytes("w", "")) +
                            field(12, port_bytes("y", ""));
  return value(1, 8) + field(7, graph);
}

OnnxDeclaration read(const std::string& bytes) {
  const auto path = std::filesystem::temp_directory_path() / "backend_sdk_test.onnx";
  std::ofstream(path, std::ios::binary) << bytes;
  auto declaration = read_onnx_declaration(path.c_str());
  std::filesystem::remove(path);
  return declaration;
}

TEST(OnnxDeclaration, TellsInputsDimensionsOutputsAndTypesOfWeights) {
  const auto declaration = read(model_bytes());
  ASSERT_TRUE(declaration.readable);
  ASSERT_EQ(declaration.inputs.size(), 1u) << "an initialiser is not an input";
  EXPECT_EQ(declaration.inputs[0].name, "x");
  ASSERT_EQ(declaration.inputs[0].dimensions.size(), 3u);
  EXPECT_EQ(declaration.inputs[0].dimensions[0].name, "batch");
  EXPECT_EQ(declaration.inputs[0].dimensions[0].value, -1);
  EXPECT_EQ(declaration.inputs[0].dimensions[1].value, 3);
  EXPECT_EQ(declaration.inputs[0].dimensions[2].value, -1);
  EXPECT_THAT(declaration.outputs, ElementsAre("y"));
  EXPECT_THAT(declaration.weight_types, ElementsAre(10));
}

TEST(OnnxDeclaration, CutAtAnyByteIsNotReadable) {
  const std::string whole = model_bytes();
  for (std::size_t size = 3; size < whole.size(); ++size) EXPECT_FALSE(read(whole.substr(0, size)).readable) << size;
}

TEST(OnnxDeclaration, AnyByteMayBeAnything) {
  const std::string whole = model_bytes();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int byte : {0x00, 0x7F, 0x80, 0xFF}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(byte);
      EXPECT_LE(read(changed).inputs.size(), 4u);
    }
  }
}

TEST(OnnxDeclaration, WhatIsNoFileIsNotReadable) {
  EXPECT_FALSE(read_onnx_declaration("/nonexistent/file").readable);
  EXPECT_FALSE(read_onnx_declaration("/proc").readable);
  EXPECT_FALSE(read_onnx_declaration("/dev/zero").readable);
  EXPECT_FALSE(read("").readable);
}

TEST(Dimensions, PlaceBeatsNameBeatsBatch) {
  const imb_pair pairs[] = {{"x.0", "5"}, {"batch", "6"}};
  imb_load load{};
  load.batch = 7;
  EXPECT_EQ(size_of(load, "x", 0, "batch", 0), 7);
  EXPECT_EQ(size_of(load, "x", 1, "batch", 0), std::nullopt);
  load.dimensions = pairs;
  load.dimension_count = 2;
  EXPECT_EQ(size_of(load, "x", 0, "batch", 0), 5);
  EXPECT_EQ(size_of(load, "z", 0, "batch", 0), 6);
  EXPECT_EQ(size_of(load, "z", 0, "", 0), 7);
  EXPECT_EQ(size_of(load, "z", 0, "", -1), std::nullopt);
  EXPECT_EQ(size_of(load, "z", 1, "", 1), 7);
}

TEST(Dimensions, TheHostSaysWhichIsTheBatch) {
  const std::vector<DeclaredInput> inputs = {{"x", {{-1, "seq"}, {-1, "batch"}}}, {"s", {}}};
  imb_load load{};
  load.struct_size = sizeof load;
  EXPECT_EQ(batch_axes(load, inputs), (std::vector<std::int64_t>{0, -1}));  // a host that does not
  std::vector<std::string> asked;
  load.batch_axes_user = &asked;
  load.batch_axes = [](void* user, std::size_t count, const imb_port* const* ports, std::int64_t* axes, imb_message) {
    for (std::size_t i = 0; i < count; ++i) {
      static_cast<std::vector<std::string>*>(user)->push_back(ports[i]->name);
      axes[i] = static_cast<std::int64_t>(ports[i]->rank) - 1;
    }
    return IMB_OK;
  };
  EXPECT_EQ(batch_axes(load, inputs), (std::vector<std::int64_t>{1, -1}));
  EXPECT_EQ(asked, (std::vector<std::string>{"x", "s"}));
  load.batch_axes = [](void*, std::size_t, const imb_port* const*, std::int64_t*, imb_message message) {
    message.text[std::string_view("which is it?").copy(message.text, message.capacity - 1)] = '\0';
    return IMB_INVALID_ARGUMENT;
  };
  EXPECT_THROW(static_cast<void>(batch_axes(load, inputs)), Failure);
}

}  // namespace
}  // namespace infermeter::backend_sdk_test
