#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "http/json_text.hpp"
#include "kserve/datatypes.hpp"
#include "kserve/grpc_answer.hpp"
#include "kserve/grpc_messages.hpp"
#include "kserve/infer_answer.hpp"
#include "kserve/infer_request.hpp"
#include "kserve/metadata.hpp"

namespace infermeter::kserve_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What an action is refused with.
template <class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.message;
  }
  return "nothing was refused";
}

std::string refused_answer(std::string_view body, std::optional<std::size_t> json_size = {}) {
  return refusal([&] { static_cast<void>(outputs_from(body, json_size)); });
}

std::string refused_model(std::string_view body) {
  return refusal([&] { static_cast<void>(model_metadata_from(body)); });
}

template <class Element>
std::vector<Element> elements(const OutputTensor& output) {
  std::vector<Element> values(output.size_bytes / sizeof(Element));
  if (!values.empty()) std::memcpy(values.data(), output.data(), output.size_bytes);
  return values;
}

// --- element types -------------------------------------------------------------------------------------------------

TEST(Datatypes, NamesAreThoseOfTheProtocol) {
  for (const imb_dtype dtype : {IMB_BOOL, IMB_UINT8, IMB_INT64, IMB_FLOAT16, IMB_BFLOAT16, IMB_FLOAT64, IMB_STRING})
    EXPECT_EQ(dtype_from_datatype(*datatype_of(dtype)), dtype);
  EXPECT_FALSE(dtype_from_datatype("FP8"));
  EXPECT_FALSE(datatype_of(IMB_COMPLEX64));
}

JsonNumber whole(std::int64_t value) { return {.kind = JsonNumber::Kind::whole, .whole = value}; }
JsonNumber real(double value) { return {.kind = JsonNumber::Kind::real, .real = value}; }

TEST(Datatypes, NumbersThatDoNotFitAreRefused) {
  unsigned char place[8];
  EXPECT_TRUE(put_element(IMB_INT8, whole(-128), place));
  EXPECT_FALSE(put_element(IMB_INT8, whole(-129), place));
  EXPECT_FALSE(put_element(IMB_UINT8, whole(-1), place));
  EXPECT_TRUE(put_element(IMB_INT32, real(3.0), place));
  EXPECT_FALSE(put_element(IMB_INT32, real(3.5), place));
  EXPECT_FALSE(put_element(IMB_INT64, real(1e300), place));
  EXPECT_FALSE(put_element(IMB_INT64, real(std::numeric_limits<double>::quiet_NaN()), place));
  EXPECT_FALSE(put_element(IMB_BOOL, whole(2), place));
  EXPECT_FALSE(put_element(IMB_INT32, {}, place));
  EXPECT_TRUE(put_element(IMB_FLOAT32, {}, place));  // null: servers write NaN so
  float written = 0;
  std::memcpy(&written, place, sizeof written);
  EXPECT_TRUE(std::isnan(written));
}

template <class Element>
void comes_back(imb_dtype dtype, Element element) {
  unsigned char place[sizeof(Element)], again[sizeof(Element)];
  std::memcpy(place, &element, sizeof element);
  std::string json;
  if (!append_element(dtype, place, json)) return;
  const auto parsed = nlohmann::json::parse(json);
  const JsonNumber number = parsed.is_number_unsigned()
                                ? JsonNumber{.kind = JsonNumber::Kind::natural, .natural = parsed.get<std::uint64_t>()}
                            : parsed.is_number_integer() ? whole(parsed.get<std::int64_t>())
                                                         : real(parsed.get<double>());
  RC_ASSERT(put_element(dtype, number, again));
  RC_ASSERT(std::memcmp(place, again, sizeof place) == 0);
}

TEST(Datatypes, ElementsComeBackFromJsonAsTheyWere) {
  rc::check([](std::uint16_t bits) {
    comes_back(IMB_FLOAT16, bits);
    comes_back(IMB_BFLOAT16, bits);
    comes_back(IMB_UINT16, bits);
  });
  rc::check([](std::uint32_t bits) { comes_back(IMB_FLOAT32, std::bit_cast<float>(bits)); });
  rc::check([](std::uint64_t bits) {
    comes_back(IMB_FLOAT64, std::bit_cast<double>(bits));
    comes_back(IMB_UINT64, bits);
    comes_back(IMB_INT64, std::bit_cast<std::int64_t>(bits));
  });
}

TEST(Datatypes, HalvesAreRoundedToTheNearest) {
  const std::pair<double, std::uint16_t> pairs[] = {{0, 0},
                                                    {1, 0x3C00},
                                                    {-2, 0xC000},
                                                    {65504, 0x7BFF},
                                                    {65519, 0x7BFF},
                                                    {65520, 0x7C00},
                                                    {1e300, 0x7C00},
                                                    {5.960464477539063e-8, 1},
                                                    {2.9e-8, 0},
                                                    {1 + 1.0 / 2048, 0x3C00},
                                                    {1 + 3.0 / 2048, 0x3C02},
                                                    {6.097555160522461e-05, 0x03FF},
                                                    {6.103515625e-05, 0x0400}};
  for (const auto& [value, bits] : pairs) {
    std::uint16_t written = 0;
    ASSERT_TRUE(put_element(IMB_FLOAT16, real(value), reinterpret_cast<unsigned char*>(&written)));
    EXPECT_EQ(written, bits) << value;
  }
}

// --- metadata ------------------------------------------------------------------------------------------------------

TEST(Metadata, AServerSaysWhatItIs) {
  const auto triton =
      server_metadata_from(R"({"name":"triton","version":"2.5","extensions":["x","binary_tensor_data",3]})");
  EXPECT_EQ(triton.name, "triton");
  EXPECT_EQ(triton.version, "2.5");
  EXPECT_TRUE(triton.takes_binary_tensors);
  EXPECT_FALSE(server_metadata_from(R"({"name":7,"extensions":"binary_tensor_data"})").takes_binary_tensors);
  EXPECT_THAT(refusal([] { static_cast<void>(server_metadata_from("[]")); }), HasSubstr("not a JSON object"));
}

TEST(Metadata, PortsHaveTypesAndShapes) {
  const auto model = model_metadata_from(
      R"({"name":"m","versions":["1","2"],"platform":"p","inputs":[{"name":"x","datatype":"FP32","shape":[-1,3]}],
          "outputs":[{"name":"y","datatype":"INT64","shape":[-1]}]})");
  ASSERT_EQ(model.inputs.size(), 1U);
  EXPECT_EQ(model.inputs[0].dtype, IMB_FLOAT32);
  EXPECT_THAT(model.inputs[0].shape, ElementsAre(-1, 3));
  EXPECT_THAT(model.inputs[0].dimension_names, ElementsAre("batch", ""));
  EXPECT_THAT(model.outputs[0].dimension_names, ElementsAre("batch"));
  EXPECT_THAT(model.versions, ElementsAre("1", "2"));
}

TEST(Metadata, AFirstDimensionIsTheBatchWhereAllHaveIt) {
  const auto model = model_metadata_from(
      R"({"inputs":[{"name":"x","datatype":"FP32","shape":[-1,3]},{"name":"k","datatype":"FP32","shape":[]}]})");
  EXPECT_THAT(model.inputs[0].dimension_names, ElementsAre("", ""));
}

TEST(Metadata, SaysWhatIsWrong) {
  EXPECT_THAT(refused_model("{"), HasSubstr("is not the JSON"));
  EXPECT_THAT(refused_model("3"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refused_model("{}"), HasSubstr("no inputs"));
  EXPECT_THAT(refused_model(R"({"inputs":null})"), HasSubstr("no inputs"));
  EXPECT_THAT(refused_model(R"({"inputs":{}})"), HasSubstr("no list"));
  EXPECT_THAT(refused_model(R"({"inputs":[3]})"), HasSubstr("not an object"));
  EXPECT_THAT(refused_model(R"({"inputs":[{"datatype":"FP32","shape":[]}]})"), HasSubstr("no name"));
  EXPECT_THAT(refused_model(R"({"inputs":[{"name":"","datatype":"FP32","shape":[]}]})"), HasSubstr("cannot be one"));
  EXPECT_THAT(refused_model(R"({"inputs":[{"name":"a\u0000","datatype":"FP32","shape":[]}]})"),
              HasSubstr("cannot be one"));
  EXPECT_THAT(refused_model(R"({"inputs":[{"name":"x","shape":[]}]})"), HasSubstr("no datatype"));
  EXPECT_THAT(refused_model(R"({"inputs":[{"name":"x","datatype":"FP8","shape":[]}]})"), HasSubstr("\"FP8\""));
  EXPECT_THAT(refused_model(R"({"inputs":[{"name":"x","datatype":"FP32"}]})"), HasSubstr("no shape"));
  for (const char* size : {"-2", "1.5", "\"3\"", "null", "2147483648", "18446744073709551616"})
    EXPECT_THAT(refused_model(std::string(R"({"inputs":[{"name":"x","datatype":"FP32","shape":[)") + size + "]}]}"),
                HasSubstr("a dimension of input \"x\" is"))
        << size;
  const std::string port = R"({"name":"x","datatype":"FP32","shape":[]})";
  EXPECT_THAT(refused_model("{\"inputs\":[" + port + "," + port + "]}"), HasSubstr("two inputs have the name \"x\""));
  std::string many = "{\"inputs\":[" + port;
  for (std::size_t i = 0; i < most_tensors; ++i) many += "," + port;
  EXPECT_THAT(refused_model(many + "]}"), HasSubstr("too many inputs"));
  EXPECT_THAT(refused_model(R"({"inputs":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}"),
              HasSubstr("nested too deeply"));
}

TEST(Metadata, NothingThatIsShownActsOnATerminal) {
  EXPECT_EQ(shown("a\x1b[31m\n\xC3\xA4\xE2\x80\xAE"), R"("a\u001b[31m\n\u00e4\u202e")");
  EXPECT_EQ(shown("\xFF\xFE"), R"("\ufffd\ufffd")");
  EXPECT_THAT(shown(std::string(1000, 'x'), 10), testing::StartsWith("\"xxxxxxxxxx\""));
  EXPECT_EQ(error_text(R"({"error":"why"})"), "it said \"why\"");
  EXPECT_EQ(error_text(R"({"detail":"why"})"), "it said \"why\"");
  EXPECT_EQ(error_text("<html>"), "it said \"<html>\"");
  EXPECT_EQ(error_text(""), "it said nothing else");
}

// --- requests ------------------------------------------------------------------------------------------------------

PortFields port_of(imb_dtype dtype, std::vector<std::int64_t> shape) {
  PortFields port{.name = "x", .dtype = dtype, .shape = std::move(shape), .dimension_names = {}};
  port.dimension_names.resize(port.shape.size());
  return port;
}

template <class Element>
imb_value value_of(imb_dtype dtype, const std::vector<std::int64_t>& shape, const std::vector<Element>& data) {
  return {.kind = IMB_TENSOR,
          .dtype = dtype,
          .rank = shape.size(),
          .shape = shape.data(),
          .data = data.data(),
          .size_bytes = data.size() * sizeof(Element),
          .string_sizes = nullptr,
          .element_count = 0,
          .elements = nullptr};
}

TEST(InferRequest, HoldsNumbersAsJsonOrAsBytes) {
  const std::vector<std::int64_t> shape{1, 2};
  const std::vector<float> data{0.1F, -3};
  const imb_value value = value_of(IMB_FLOAT32, shape, data);
  const EncodedInput json[] = {encode_input(port_of(IMB_FLOAT32, {-1, 2}), value, false)};
  EXPECT_EQ(request_body(json, {}, false).bytes,
            R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[0.1,-3]}]})");
  const EncodedInput binary[] = {encode_input(port_of(IMB_FLOAT32, {-1, 2}), value, true)};
  const std::string outputs[] = {"y"};
  const RequestBody body = request_body(binary, outputs, true);
  const auto head = nlohmann::json::parse(body.bytes.substr(0, body.json_size));
  EXPECT_EQ(head["inputs"][0]["parameters"]["binary_data_size"], 8);
  EXPECT_EQ(head["outputs"][0]["parameters"]["binary_data"], true);
  ASSERT_EQ(body.bytes.size(), body.json_size + 8);
  EXPECT_EQ(std::memcmp(body.bytes.data() + body.json_size, data.data(), 8), 0);
}

TEST(InferRequest, RefusesWhatJsonCannotCarry) {
  const std::vector<std::int64_t> shape{1};
  const std::vector<float> data{std::numeric_limits<float>::infinity()};
  EXPECT_THAT(refusal([&] {
                static_cast<void>(encode_input(port_of(IMB_FLOAT32, {1}), value_of(IMB_FLOAT32, shape, data), false));
              }),
              HasSubstr("tensors=binary"));
}

TEST(InferRequest, HoldsStrings) {
  const std::vector<std::int64_t> shape{2};
  const std::vector<const char*> data{"a\"b", "\0c"};
  const std::size_t sizes[] = {3, 2};
  imb_value value = value_of(IMB_STRING, shape, data);
  value.string_sizes = sizes;
  EXPECT_THAT(encode_input(port_of(IMB_STRING, {2}), value, false).head, HasSubstr(R"("data":["a\"b","\u0000c"])"));
  EXPECT_EQ(encode_input(port_of(IMB_STRING, {2}), value, true).bytes, std::string("\3\0\0\0a\"b\2\0\0\0\0c", 13));
}

// --- answers -------------------------------------------------------------------------------------------------------

TEST(InferAnswer, TakesJsonInAnyOrderOfKeysAndNested) {
  const auto outputs = outputs_from(
      R"({"model_name":"m","parameters":{"outputs":[{"name":"no"}]},
          "outputs":[{"data":[[1,2.5],[null,-3]],"parameters":{"a":{"binary_data_size":4}},"shape":[2,2],"datatype":"FP32","name":"y"},
                     {"name":"s","datatype":"BYTES","shape":[2],"data":["a","\u0000b"]},
                     {"name":"t","datatype":"BOOL","shape":[2],"data":[true,0]},
                     {"name":"e","datatype":"INT64","shape":[0,3],"data":[]}]})",
      {});
  ASSERT_EQ(outputs.size(), 4U);
  EXPECT_EQ(outputs[0].name, "y");
  const auto values = elements<float>(outputs[0]);
  EXPECT_EQ(values[1], 2.5F);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_THAT(outputs[1].strings, ElementsAre("a", std::string("\0b", 2)));
  EXPECT_THAT(elements<std::uint8_t>(outputs[2]), ElementsAre(1, 0));
  EXPECT_THAT(outputs[3].shape, ElementsAre(0, 3));
}

TEST(InferAnswer, TakesBytesBehindTheJson) {
  const std::string head =
      R"({"outputs":[{"name":"y","datatype":"INT32","shape":[2],"parameters":{"binary_data_size":8}},
                     {"name":"j","datatype":"INT32","shape":[1],"data":[7]},
                     {"name":"s","datatype":"BYTES","shape":[2],"parameters":{"binary_data_size":11}}]})";
  const std::string body = head + std::string("\1\0\0\0\2\0\0\0", 8) + std::string("\3\0\0\0abc\0\0\0\0", 11);
  const auto outputs = outputs_from(body, head.size());
  EXPECT_THAT(elements<std::int32_t>(outputs[0]), ElementsAre(1, 2));
  EXPECT_THAT(elements<std::int32_t>(outputs[1]), ElementsAre(7));
  EXPECT_THAT(outputs[2].strings, ElementsAre("abc", ""));
}

TEST(InferAnswer, SaysWhatIsWrong) {
  const auto with = [](std::string_view output) { return "{\"outputs\":[" + std::string(output) + "]}"; };
  EXPECT_THAT(refused_answer(""), HasSubstr("not JSON"));
  EXPECT_THAT(refused_answer("[]"), HasSubstr("no outputs"));
  EXPECT_THAT(refused_answer(R"({"outputs":3})"), HasSubstr("no outputs"));
  EXPECT_THAT(refused_answer(R"({"outputs":[],"outputs":[]})"), HasSubstr("twice"));
  EXPECT_THAT(refused_answer(with("{}")), HasSubstr("no name"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y"})")), HasSubstr("no datatype"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"FP8"})")), HasSubstr("\"FP8\""));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"FP32"})")), HasSubstr("no shape"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"FP32","shape":[1]})")), HasSubstr("no data"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"FP32","shape":[-1],"data":[1]})")),
              HasSubstr("not a size"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"FP32","shape":[[1]],"data":[1]})")),
              HasSubstr("list of lists"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"FP32","shape":[2],"data":[1]})")),
              HasSubstr("has 1 elements"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"FP32","shape":[1],"data":["1"]})")),
              HasSubstr("not of its datatype"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"BYTES","shape":[1],"data":[1]})")),
              HasSubstr("not of its datatype"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"INT8","shape":[1],"data":[128]})")),
              HasSubstr("cannot hold"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"FP32","shape":[1],"data":[1],"data":[1]})")),
              HasSubstr("twice"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"FP32","shape":[1],"data":[{}]})")),
              HasSubstr("among numbers"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"FP32","shape":[1],"data":[1e999]})")),
              HasSubstr("not JSON"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"FP32","shape":[4611686018427387904,4],"data":[1]})")),
              HasSubstr("impossible shape"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"FP32","shape":[1099511627776],"data":[1]})")),
              HasSubstr("has 1 elements"));
  EXPECT_THAT(
      refused_answer(with(R"({"name":"y","datatype":"FP32","shape":[1],"parameters":{"binary_data_size":-4}})")),
      HasSubstr("not a size"));
  EXPECT_THAT(refused_answer(with(R"({"name":"y","datatype":"FP32","shape":[1],"parameters":{"binary_data_size":4}})")),
              HasSubstr("0 came"));
  EXPECT_THAT(refused_answer("{}", 3), HasSubstr("3 bytes"));
  const std::string left = with(R"({"name":"y","datatype":"FP32","shape":[1],"data":[1]})");
  EXPECT_THAT(refused_answer(left + "xx", left.size()), HasSubstr("2 bytes are left"));
  EXPECT_THAT(refused_answer(std::string(1'000'000, '[')), HasSubstr("nested too deeply"));
}

TEST(InferAnswer, BytesOfStringsAreBounded) {
  const std::string head =
      R"({"outputs":[{"name":"s","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":6}}]})";
  EXPECT_THAT(refused_answer(head + std::string("\xFF\xFF\xFF\xFFxx", 6), head.size()),
              HasSubstr("middle of a string"));
  EXPECT_THAT(refused_answer(head + std::string("\1\0\0\0xx", 6), head.size()), HasSubstr("continues behind"));
  const std::string many =
      R"({"outputs":[{"name":"s","datatype":"BYTES","shape":[1099511627776],"parameters":{"binary_data_size":0}}]})";
  EXPECT_THAT(refused_answer(many, many.size()), HasSubstr("ends before its last string"));
}

TEST(InferAnswer, IsHeldAgainstWhatWasDeclared) {
  const std::string body = R"({"outputs":[{"name":"z","datatype":"FP32","shape":[1],"data":[1]},
                                          {"name":"y","datatype":"FP32","shape":[2,1],"data":[1,2]}]})";
  PortFields y{.name = "y", .dtype = IMB_FLOAT32, .shape = {-1, 1}, .dimension_names = {"", ""}};
  const auto declared = [&] { return as_declared(outputs_from(body, {}), {&y, 1}); };
  EXPECT_EQ(declared().front().name, "y");
  y.dtype = IMB_INT32;
  EXPECT_THAT(refusal([&] { static_cast<void>(declared()); }), HasSubstr("is float32, and the server declares int32"));
  y.dtype = IMB_FLOAT32;
  y.shape = {3, 1};
  EXPECT_THAT(refusal([&] { static_cast<void>(declared()); }), HasSubstr("has the shape 2x1"));
  y.name = "w";
  EXPECT_THAT(refusal([&] { static_cast<void>(declared()); }), HasSubstr("output \"w\" is missing"));
}

TEST(InferAnswer, IsBoundedByWhatWasDeclared) {
  PortFields y{.name = "y", .dtype = IMB_FLOAT32, .shape = {2, 3}, .dimension_names = {"", ""}};
  EXPECT_EQ(largest_answer({&y, 1}), (1U << 20) + 6U * 40);
  y.shape = {INT32_MAX, INT32_MAX};
  EXPECT_EQ(largest_answer({&y, 1}), std::size_t{2} << 30);
  y.shape = {-1, 3};
  EXPECT_EQ(largest_answer({&y, 1}), std::size_t{256} << 20);
  EXPECT_EQ(largest_answer({}), std::size_t{256} << 20);
}

TEST(InferAnswer, AnyBytesAreTakenOrRefused) {
  rc::check([](const std::string& text, std::size_t size) {
    for (const auto& json_size : {std::optional<std::size_t>(), std::optional<std::size_t>(size % 64)}) {
      refused_answer(text, json_size);
      refused_answer(R"({"outputs":[{"name":"y","datatype":"FP32","shape":[1],"data":[)" + text + "]}]}", json_size);
    }
    refused_model(text);
  });
}

// --- gRPC ----------------------------------------------------------------------------------------------------------
// The messages in hexadecimal were written by Google's protobuf from the protocol's definition.

std::string bytes_from(std::string_view hexadecimal) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hexadecimal.substr(i, 2)), nullptr, 16));
  return bytes;
}

std::vector<OutputTensor> outputs_of(std::string_view message) {
  std::string version;
  return outputs_in(message, &version);
}

std::string refused_outputs(std::string_view hexadecimal) {
  return refusal([&] { static_cast<void>(outputs_of(bytes_from(hexadecimal))); });
}

TEST(Grpc, RequestsAreThoseOfTheProtocol) {
  const std::vector<std::int64_t> shape{1, 2};
  const std::string tensor = input_tensor(port_of(IMB_FLOAT32, {-1, 2}), shape);
  const GrpcInput inputs[] = {{tensor, "\1\2\3\4\5\6\7\x08"}};
  const std::string outputs[] = {"y"};
  std::string message;
  append_infer_request(message, "m", "3", inputs, outputs);
  EXPECT_EQ(message, bytes_from("0a016d1201332a0d0a01781204465033321a02010232030a01793a080102030405060708"));
  EXPECT_EQ(model_metadata_request("m", "3"), bytes_from("0a016d120133"));
  EXPECT_EQ(model_metadata_request("m", ""), bytes_from("0a016d"));
}

TEST(Grpc, AFrameHasTheMessagesSize) {
  std::string body(frame_size + 300, 'x');
  set_frame(body);
  EXPECT_EQ(body.substr(0, frame_size), std::string("\0\0\0\1\x2C", 5));
  EXPECT_EQ(message_in(body), std::string(300, 'x'));
  const auto refused = [](const std::string& bytes) { return refusal([&] { static_cast<void>(message_in(bytes)); }); };
  EXPECT_THAT(refused(""), HasSubstr("contains no message"));
  EXPECT_THAT(refused(body + 'x'), HasSubstr("said to have 300 bytes, and 301 came"));
  EXPECT_THAT(refused(body.substr(0, 9)), HasSubstr("said to have 300 bytes, and 4 came"));
  body[0] = 1;
  EXPECT_THAT(refused(body), HasSubstr("compressed"));
}

TEST(Grpc, MetadataIsRead) {
  const ModelMetadata model = model_metadata_in(bytes_from(
      "0a016d1201311201321a056e756d707922160a01781204465033321a0bffffffffffffffffff010322170a016b1205494e543634"
      "1a0bffffffffffffffffff01012a160a0179120542595445531a0affffffffffffffffff01"));
  EXPECT_EQ(model.platform, "numpy");
  EXPECT_THAT(model.versions, ElementsAre("1", "2"));
  ASSERT_EQ(model.inputs.size(), 2U);
  EXPECT_EQ(model.inputs[1].name, "k");
  EXPECT_EQ(model.inputs[1].dtype, IMB_INT64);
  EXPECT_THAT(model.inputs[0].shape, ElementsAre(-1, 3));
  EXPECT_THAT(model.inputs[0].dimension_names, ElementsAre("batch", ""));
  EXPECT_EQ(model.outputs[0].dtype, IMB_STRING);
  // Dimensions one by one, as protobuf 2 wrote them.
  EXPECT_THAT(model_metadata_in(bytes_from("220d0a017812044650333218021803")).inputs[0].shape, ElementsAre(2, 3));
}

TEST(Grpc, OutputsAreRawOrTyped) {
  std::string version;
  const auto raw =
      outputs_in(bytes_from("0a016d1201332a0d0a01791204465033321a0201032a0d0a0173120542595445531a0102320c0000803f0000"
                            "004000004040320b0300000061626300000000"),
                 &version);
  EXPECT_EQ(version, "3");
  EXPECT_THAT(elements<float>(raw.at(0)), ElementsAre(1, 2, 3));
  EXPECT_THAT(raw.at(1).strings, ElementsAre("abc", ""));
  const auto typed = outputs_of(
      bytes_from("0a016d2a180a01661204465033321a01022a0a32080000c03f0000c07f2a180a01641204465036341a01012a0a3a089c75008"
                 "83ce4377e2a120a0162"
                 "1204424f4f4c1a01022a040a0201002a1b0a01691204494e54381a01022a0d120b80ffffffffffffffff017f2a1b0a016c120"
                 "5494e5436341a01012a"
                 "0c1a0a808080808080808080012a170a0175120655494e5433321a01012a072205ffffffff0f2a1c0a0176120655494e54363"
                 "41a01012a0c2a0affff"
                 "ffffffffffffff012a140a0173120542595445531a01022a0542016142002a0d0a01651204465033321a020003"));
  ASSERT_EQ(typed.size(), 9U);
  EXPECT_EQ(elements<float>(typed[0])[0], 1.5F);
  EXPECT_TRUE(std::isnan(elements<float>(typed[0])[1]));
  EXPECT_THAT(elements<double>(typed[1]), ElementsAre(1e300));
  EXPECT_THAT(elements<std::uint8_t>(typed[2]), ElementsAre(1, 0));
  EXPECT_THAT(elements<std::int8_t>(typed[3]), ElementsAre(-128, 127));
  EXPECT_THAT(elements<std::int64_t>(typed[4]), ElementsAre(INT64_MIN));
  EXPECT_THAT(elements<std::uint32_t>(typed[5]), ElementsAre(UINT32_MAX));
  EXPECT_THAT(elements<std::uint64_t>(typed[6]), ElementsAre(UINT64_MAX));
  EXPECT_THAT(typed[7].strings, ElementsAre("a", ""));
  EXPECT_THAT(typed[8].shape, ElementsAre(0, 3));
}

TEST(Grpc, SaysWhatIsWrong) {
  EXPECT_THAT(refused_outputs(""), HasSubstr("no outputs"));
  EXPECT_THAT(refused_outputs("2aff"), HasSubstr("not a message of the protocol"));
  EXPECT_THAT(refused_outputs("2801"), HasSubstr("not a message of the protocol"));      // outputs as a number
  EXPECT_THAT(refused_outputs("2a020a0a"), HasSubstr("not a message of the protocol"));  // a name beyond the tensor
  EXPECT_THAT(refused_outputs("2a0412024f4b"), HasSubstr("a name that cannot be one"));
  EXPECT_THAT(refused_outputs("2a0d0a01791204465033321a020103320400000000"), HasSubstr("has 4 bytes"));
  EXPECT_THAT(refused_outputs("2a0d0a01791204465033321a020103"), HasSubstr("has 0 elements"));
  EXPECT_THAT(refused_outputs("2a0b0a01791204465033321a00320400000000320400000000"),
              HasSubstr("1 outputs and the contents of 2"));
}

TEST(Grpc, AnyBytesAreTakenOrRefused) {
  rc::check([](const std::string& text) {
    refusal([&] { static_cast<void>(outputs_of(text)); });
    refusal([&] { static_cast<void>(outputs_of(bytes_from("2a0b0a01791204465033321a00") + text)); });
    refusal([&] { static_cast<void>(model_metadata_in(text)); });
    refusal([&] { static_cast<void>(server_metadata_in(text)); });
    refusal([&] { static_cast<void>(message_in(text)); });
  });
}

}  // namespace
}  // namespace infermeter::kserve_test
