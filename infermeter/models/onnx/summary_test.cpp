#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iterator>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <ranges>

#include "infermeter/models/resolve.hpp"
#include "infermeter/models/test_folder.hpp"
#include "infermeter/models/zoo/zoo.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter::onnx_summary_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

onnx::ModelProto small_model() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  model.mutable_graph()->set_name("g");
  return model;
}

onnx::TensorProto* add_weight(onnx::GraphProto& graph, const std::string& name, std::vector<std::int64_t> dims,
                              int type = onnx::TensorProto::FLOAT) {
  auto* tensor = graph.add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const auto dim : dims) tensor->add_dims(dim);
  return tensor;
}

void add_external(onnx::TensorProto& tensor, const std::string& key, const std::string& value) {
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = tensor.add_external_data();
  entry->set_key(key);
  entry->set_value(value);
}

class OnnxSummaryTest : public testing::Test {
 protected:
  Result<OnnxSummary> read(const std::string& bytes) { return read_onnx_summary(folder_.write("m.onnx", bytes)); }
  Result<OnnxSummary> read(const onnx::ModelProto& model) { return read(model.SerializeAsString()); }
  std::string why_not(const onnx::ModelProto& model) {
    const auto result = read(model);
    return result.ok() ? "it was read" : result.error().message;
  }
  std::string sentence(const std::string& why) {
    return "'" + (folder_ / "m.onnx").string() + "' is not a whole ONNX model: " + why;
  }

  TestFolder folder_;
};

TEST_F(OnnxSummaryTest, CountsFloatWeightsOnly) {
  auto model = small_model();
  add_weight(*model.mutable_graph(), "w", {3, 4});
  add_weight(*model.mutable_graph(), "half", {5}, onnx::TensorProto::FLOAT16);
  add_weight(*model.mutable_graph(), "scalar", {});
  add_weight(*model.mutable_graph(), "empty", {0, 7});
  add_weight(*model.mutable_graph(), "shape", {100}, onnx::TensorProto::INT64);
  EXPECT_EQ(read(model)->parameters, 12U + 5 + 1);
}

TEST_F(OnnxSummaryTest, RunningStatisticsAreNoParameters) {
  auto model = small_model();
  auto* node = model.mutable_graph()->add_node();
  node->set_op_type("BatchNormalization");
  for (const char* name : {"x", "gamma", "beta", "mean", "var"}) {
    node->add_input(name);
    if (name != std::string("x")) add_weight(*model.mutable_graph(), name, {64});
  }
  EXPECT_EQ(read(model)->parameters, 128U);
  node->set_op_type("Other");
  EXPECT_EQ(read(model)->parameters, 256U);
}

onnx::NodeProto* add_node(onnx::GraphProto& graph, const char* op, std::vector<std::string> inputs) {
  auto* node = graph.add_node();
  node->set_op_type(op);
  for (const auto& input : inputs) node->add_input(input);
  return node;
}

TEST_F(OnnxSummaryTest, QuantisedWeightsAreParametersAndTheirScalesAreNot) {
  auto model = small_model();
  auto& graph = *model.mutable_graph();
  add_node(graph, "DequantizeLinear", {"w", "scale", "zero"});
  add_node(graph, "DequantizeLinear", {"bias", "bias_scale", "bias_zero"});
  add_node(graph, "QuantizeLinear", {"x", "x_scale", "x_zero"});
  add_weight(graph, "w", {4, 3}, onnx::TensorProto::INT8)->set_raw_data(std::string("\1\0\2\0\3\0\x80\0\0\0\0\1", 12));
  add_weight(graph, "scale", {4})->set_raw_data(std::string(16, '\1'));
  add_weight(graph, "zero", {4}, onnx::TensorProto::INT8)->set_raw_data(std::string(4, '\0'));
  auto* bias = add_weight(graph, "bias", {2}, onnx::TensorProto::INT32);
  bias->add_int32_data(0);
  bias->add_int32_data(-70000);
  for (const char* name : {"bias_scale", "x_scale"}) add_weight(graph, name, {})->add_float_data(0.5F);
  add_weight(graph, "x_zero", {}, onnx::TensorProto::UINT8)->add_int32_data(128);
  add_weight(graph, "shape", {2}, onnx::TensorProto::INT64);  // an integer that is nobody's weight
  EXPECT_EQ(read(model)->parameters, 12U + 2);
  EXPECT_EQ(read(model)->nonzero_parameters, 5U + 1);
}

// As ONNX Runtime's own tools write them.
TEST_F(OnnxSummaryTest, TablesRecurrentAndPackedWeightsAreParametersToo) {
  auto model = small_model();
  auto& graph = *model.mutable_graph();
  add_node(graph, "Gather", {"embedding_quantized", "ids"});
  add_node(graph, "Gather", {"shape", "index"});
  add_weight(graph, "embedding_quantized", {10, 4}, onnx::TensorProto::UINT8);
  add_weight(graph, "shape", {3}, onnx::TensorProto::INT64);
  add_node(graph, "DynamicQuantizeLSTM", {"x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"});
  add_weight(graph, "w", {1, 4, 8}, onnx::TensorProto::INT8);
  add_weight(graph, "r", {1, 2, 8}, onnx::TensorProto::INT8);
  add_weight(graph, "b", {1, 16});
  for (const char* name : {"ws", "rs"}) add_weight(graph, name, {1});
  for (const char* name : {"wz", "rz"}) add_weight(graph, name, {1}, onnx::TensorProto::INT8);
  auto* const product = add_node(graph, "MatMulNBits", {"x", "packed", "scales", "zeros"});
  for (const auto& [name, value] : {std::pair("K", 64), {"N", 10}, {"bits", 4}}) {
    auto* const attribute = product->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  }
  add_weight(graph, "packed", {10, 2, 16}, onnx::TensorProto::UINT8);
  add_weight(graph, "scales", {20});
  add_weight(graph, "zeros", {10}, onnx::TensorProto::UINT8);
  EXPECT_EQ(read(model)->parameters, 40U + 32 + 16 + 16 + 640);
  product->mutable_attribute(0)->set_i(std::int64_t{1} << 62);
  EXPECT_EQ(why_not(model), sentence("its weights have more elements than there can be"));
}

TEST_F(OnnxSummaryTest, ScalesThatAreMultipliedElsewhereAreKnownByName) {
  auto model = small_model();
  auto& graph = *model.mutable_graph();
  add_node(graph, "MatMulInteger", {"a", "w_quantized", "a_zero", "w_zero_point"});
  add_node(graph, "Mul", {"a_scale", "w_scale"});
  add_weight(graph, "w_quantized", {2, 2}, onnx::TensorProto::INT8)->set_raw_data(std::string("\1\1\0\1", 4));
  add_weight(graph, "w_scale", {2})->set_raw_data(std::string(8, '\1'));
  add_weight(graph, "w_zero_point", {2}, onnx::TensorProto::INT8)->set_raw_data(std::string(2, '\0'));
  EXPECT_EQ(read(model)->parameters, 4U);
  EXPECT_EQ(read(model)->nonzero_parameters, 3U);
}

TEST_F(OnnxSummaryTest, CountsWhatIsNotZeroInEveryType) {
  struct Case {
    int type;
    std::int64_t elements;
    std::string raw;
    std::uint64_t nonzero;
  };
  using T = onnx::TensorProto;
  const std::vector<Case> cases = {
      {T::FLOAT, 3, std::string("\0\0\0\0\0\0\0\x80\1\0\0\0", 12), 1},  // 0, -0, the smallest number
      {T::DOUBLE, 2, std::string("\0\0\0\0\0\0\0\x80\1\0\0\0\0\0\0\0", 16), 1},
      {T::FLOAT16, 3, std::string("\0\x80\0\0\0\x3c", 6), 1},
      {T::BFLOAT16, 2, std::string("\0\x80\x80\x3f", 4), 1},
      {17 /* float8e4m3fn, which older headers lack */, 3, std::string("\x80\0\1", 3), 1},
  };
  for (const Case& one : cases) {
    auto model = small_model();
    add_weight(*model.mutable_graph(), "w", {one.elements}, one.type)->set_raw_data(one.raw);
    EXPECT_EQ(read(model)->nonzero_parameters, one.nonzero) << one.type;
  }
  auto nibbles = small_model();
  add_node(*nibbles.mutable_graph(), "DequantizeLinear", {"w", "s"});
  auto* weight = add_weight(*nibbles.mutable_graph(), "w", {3}, 22);  // int4
  weight->set_raw_data(std::string("\x0f\xf1", 2));                   // what is over in the second byte does not count
  EXPECT_EQ(read(nibbles)->nonzero_parameters, 2U);
  auto typed = small_model();
  auto* half = add_weight(*typed.mutable_graph(), "w", {3}, T::FLOAT16);
  for (const int bits : {0x8000, 0, 0x3c00}) half->add_int32_data(bits);
  auto* floats = add_weight(*typed.mutable_graph(), "f", {2});
  for (const float value : {-0.0F, 2.0F}) floats->add_float_data(value);
  EXPECT_EQ(read(typed)->nonzero_parameters, 2U);
}

TEST_F(OnnxSummaryTest, DoesNotGuessWhatIsNotZero) {
  auto cut = small_model();
  add_weight(*cut.mutable_graph(), "w", {1'000'000'000'000})->set_raw_data("abcd");
  EXPECT_EQ(read(cut)->nonzero_parameters, std::nullopt);
  auto elsewhere = small_model();
  add_external(*add_weight(*elsewhere.mutable_graph(), "w", {1}), "location", "w.bin");
  EXPECT_EQ(read(elsewhere)->nonzero_parameters, std::nullopt);
  auto shifted = small_model();  // an unsigned weight is 0 where it is its zero point
  add_node(*shifted.mutable_graph(), "DequantizeLinear", {"w", "s", "z"});
  add_weight(*shifted.mutable_graph(), "w", {1}, onnx::TensorProto::UINT8)->set_raw_data("a");
  EXPECT_EQ(read(shifted)->nonzero_parameters, std::nullopt);
  EXPECT_EQ(read(shifted)->parameters, 1U);
}

TEST_F(OnnxSummaryTest, InputsThatHaveValuesAreLeftOut) {
  auto model = small_model();
  model.mutable_graph()->add_input()->set_name("x");
  model.mutable_graph()->add_input()->set_name("w");
  add_weight(*model.mutable_graph(), "w", {2});
  const auto summary = read(model);
  ASSERT_EQ(summary->inputs.size(), 1U);
  EXPECT_EQ(summary->inputs[0].name, "x");
  EXPECT_FALSE(summary->inputs[0].rank_known);
}

TEST_F(OnnxSummaryTest, ReadsShapesAndKinds) {
  auto model = small_model();
  auto* input = model.mutable_graph()->add_input();
  input->set_name("x");
  auto* tensor = input->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto::UINT8);
  tensor->mutable_shape()->add_dim()->set_dim_param("n");
  tensor->mutable_shape()->add_dim()->set_dim_value(3);
  tensor->mutable_shape()->add_dim();
  tensor->mutable_shape()->add_dim()->set_dim_value(-5);
  auto* output = model.mutable_graph()->add_output();
  output->mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
  auto* optional = model.mutable_graph()->add_output();
  optional->mutable_type()->mutable_optional_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(7);
  auto* maps = model.mutable_graph()->add_output()->mutable_type()->mutable_sequence_type()->mutable_elem_type();
  maps->mutable_map_type()->set_key_type(onnx::TensorProto::INT64);
  maps->mutable_map_type()->mutable_value_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  const auto summary = read(model);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->outputs[2].kind, Value::Kind::sequence);
  EXPECT_EQ(summary->outputs[2].map_key, DType::int64);
  EXPECT_EQ(summary->outputs[2].dtype, DType::float32);
  EXPECT_EQ(summary->inputs[0].dtype, DType::uint8);
  EXPECT_THAT(summary->inputs[0].shape, ElementsAre(-1, 3, -1, -1));
  EXPECT_THAT(summary->inputs[0].dimension_names, ElementsAre("n", "", "", ""));
  EXPECT_EQ(summary->outputs[0].kind, Value::Kind::sequence);
  EXPECT_EQ(summary->outputs[0].dtype, DType::float32);
  EXPECT_TRUE(summary->outputs[1].is_optional);
  EXPECT_EQ(summary->outputs[1].dtype, DType::int64);
}

TEST_F(OnnxSummaryTest, CountsWeightsOfConstantNodesAndSparseOnes) {
  auto model = small_model();
  const auto constant = [&](const std::string& name, std::vector<float> values, int type = onnx::TensorProto::FLOAT) {
    auto* node = model.mutable_graph()->add_node();
    node->set_op_type("Constant");
    node->add_output(name);
    auto* attribute = node->add_attribute();
    attribute->set_name("value");
    attribute->mutable_t()->set_data_type(type);
    attribute->mutable_t()->add_dims(static_cast<std::int64_t>(values.size()));
    for (const float value : values) {
      if (type == onnx::TensorProto::FLOAT) attribute->mutable_t()->add_float_data(value);
      if (type == onnx::TensorProto::INT64) attribute->mutable_t()->add_int64_data(static_cast<std::int64_t>(value));
    }
  };
  constant("w", {1, 0, 2, 3, 4});
  constant("shape", {1, -1}, onnx::TensorProto::INT64);
  constant("colour", {0.5F, 0.4F, 0.3F});
  constant("mean", {1, 2, 3, 4, 5});
  auto* normalisation = model.mutable_graph()->add_node();
  normalisation->set_op_type("BatchNormalization");
  for (const char* input : {"x", "w", "w", "mean"}) normalisation->add_input(input);
  auto* sparse = model.mutable_graph()->add_sparse_initializer();
  sparse->mutable_values()->set_name("s");
  sparse->mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse->mutable_values()->add_dims(2);
  for (const float value : {4.0F, 5.0F}) sparse->mutable_values()->add_float_data(value);
  const auto summary = read(model);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->parameters, 7U);
  EXPECT_EQ(summary->nonzero_parameters, 6U);
}

TEST_F(OnnxSummaryTest, FindsExternalDataWhereverItHides) {
  auto model = small_model();
  add_external(*add_weight(*model.mutable_graph(), "plain", {1}), "location", "a");
  auto* constant = model.mutable_graph()->add_node()->add_attribute()->mutable_t();
  constant->set_name("constant");
  add_external(*constant, "location", "b");
  auto* branch = model.mutable_graph()->add_node()->add_attribute()->mutable_g();
  add_external(*add_weight(*branch, "in_branch", {1}), "location", "c");
  auto* sparse = model.mutable_graph()->add_sparse_initializer()->mutable_values();
  sparse->set_name("sparse");
  add_external(*sparse, "location", "d");
  auto* in_function = model.add_functions()->add_node()->add_attribute()->add_tensors();
  in_function->set_name("in_function");
  add_external(*in_function, "location", "e");
  auto* training = model.add_training_info()->mutable_initialization();
  add_external(*add_weight(*training, "training", {1}), "location", "f");
  // Without the mark that it is external: what reads it anyway is not to be trusted with it.
  auto* unmarked = add_weight(*model.mutable_graph(), "unmarked", {1});
  add_external(*unmarked, "location", "g");
  unmarked->clear_data_location();
  std::vector<std::string> found;
  const auto summary = read(model);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  for (const auto& external : summary->external) found.push_back(external.tensor + " " + external.location);
  EXPECT_THAT(found, testing::UnorderedElementsAre("plain a", "constant b", "in_branch c", "sparse d", "in_function e",
                                                   "training f", "unmarked g"));
  EXPECT_EQ(summary->nodes, 3U);
}

// FunctionProto.attribute_proto, which older versions of ONNX's own library do not know.
TEST_F(OnnxSummaryTest, FindsExternalDataOfAFunctionsDefaultAttribute) {
  onnx::AttributeProto attribute;
  attribute.set_name("table");
  attribute.mutable_t()->set_name("by_default");
  add_external(*attribute.mutable_t(), "location", "../outside.bin");
  std::string function, bytes = small_model().SerializeAsString();
  protozero::pbf_writer(function).add_message(11, attribute.SerializeAsString());
  protozero::pbf_writer(bytes).add_message(25, function);
  const auto summary = read(bytes);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  ASSERT_EQ(summary->external.size(), 1U);
  EXPECT_EQ(summary->external[0].location, "../outside.bin");
}

TEST_F(OnnxSummaryTest, ReadsOffsetAndLength) {
  auto model = small_model();
  auto* tensor = add_weight(*model.mutable_graph(), "w", {1});
  add_external(*tensor, "location", "w.bin");
  add_external(*tensor, "offset", "4096");
  add_external(*tensor, "length", "12");
  add_external(*tensor, "checksum", "abc");
  const auto summary = read(model);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->external.at(0).offset, 4096);
  EXPECT_EQ(summary->external.at(0).length, 12);
}

TEST_F(OnnxSummaryTest, RefusesSizesThatAreNone) {
  for (const std::string bad : {"-1", "0x10", "", " 1", "1 ", "99999999999999999999", "1.5"}) {
    auto model = small_model();
    add_external(*add_weight(*model.mutable_graph(), "w", {1}), "offset", bad);
    EXPECT_EQ(why_not(model),
              sentence("tensor 'w' has the offset '" + bad + "' in its external data, which is not a size"));
  }
  auto model = small_model();
  auto* tensor = add_weight(*model.mutable_graph(), "w", {1});
  add_external(*tensor, "location", "a");
  add_external(*tensor, "location", "../b");
  EXPECT_EQ(why_not(model), sentence("tensor 'w' gives the location of its external data twice"));
}

TEST_F(OnnxSummaryTest, RefusesImpossibleDimensions) {
  auto negative = small_model();
  add_weight(*negative.mutable_graph(), "w", {-1});
  EXPECT_EQ(why_not(negative), sentence("tensor 'w' has a negative dimension"));
  auto large = small_model();
  add_weight(*large.mutable_graph(), "w", {std::int64_t{1} << 40, std::int64_t{1} << 40});
  EXPECT_EQ(why_not(large), sentence("tensor 'w' has more elements than there can be"));
  auto together = small_model();
  for (int i = 0; i < 4; ++i) add_weight(*together.mutable_graph(), "w", {std::int64_t{1} << 62});
  EXPECT_EQ(why_not(together), sentence("its weights have more elements than there can be"));
}

TEST_F(OnnxSummaryTest, RefusesWhatIsNoModel) {
  auto model = small_model();
  model.clear_ir_version();
  EXPECT_EQ(why_not(model), sentence("it has no IR version"));
  model = small_model();
  model.clear_opset_import();
  EXPECT_EQ(why_not(model), sentence("it declares no operator set"));
  model = small_model();
  model.clear_graph();
  EXPECT_EQ(why_not(model), sentence("it has no graph"));
  const std::string twice = small_model().SerializeAsString();
  EXPECT_EQ(read(twice + twice).error().message, sentence("it has two graphs"));
  EXPECT_EQ(read("\x89PNG\r\n\x1a\n").error().message, sentence("its contents are cut off or damaged"));
  EXPECT_EQ(read("<?xml version='1.0'?>").error().kind, ErrorKind::model);
}

TEST_F(OnnxSummaryTest, GraphsNestedVeryDeeplyAreReadWithoutRecursion) {
  // From inside out: what is written first is the end.
  std::vector<std::string> heads;
  std::size_t size = 0;
  for (int depth = 0; depth < 20'000; ++depth) {
    for (const unsigned field : {6U, 5U, 1U}) {  // the attribute's graph, the node's attribute, the graph's node
      std::string head(1, static_cast<char>(field << 3 | 2));
      protozero::write_varint(std::back_inserter(head), size);
      size += head.size();
      heads.push_back(std::move(head));
    }
  }
  std::string graph;
  for (const std::string& head : heads | std::views::reverse) graph += head;
  std::string model;
  protozero::pbf_writer writer(model);
  writer.add_int64(1, 8);
  writer.add_message(7, graph);
  writer.add_message(8, std::string("\x10\x11"));
  const auto summary = read(model);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->nodes, 20'000U);
}

TEST_F(OnnxSummaryTest, TypesNestedTooDeeplyAreRefused) {
  auto model = small_model();
  auto* type = model.mutable_graph()->add_input()->mutable_type();
  for (int i = 0; i < 20; ++i) type = type->mutable_sequence_type()->mutable_elem_type();
  type->mutable_tensor_type()->set_elem_type(1);
  EXPECT_EQ(why_not(model), sentence("the type of one of its inputs or outputs is nested too deeply"));
  model = small_model();
  auto* shape = model.mutable_graph()->add_input()->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < 1025; ++i) shape->add_dim();
  EXPECT_EQ(why_not(model), sentence("one of its inputs or outputs has more than 1024 dimensions"));
}

TEST_F(OnnxSummaryTest, CountsOfWhatIsKeptAreBounded) {
  auto model = small_model();
  for (int i = 0; i < 10'001; ++i) model.mutable_graph()->add_input();
  EXPECT_EQ(why_not(model), sentence("it has more than 10000 inputs or outputs"));
  model = small_model();
  auto* node = model.mutable_graph()->add_node();
  for (int i = 0; i < 100'001; ++i) node->add_attribute()->mutable_g();
  EXPECT_EQ(why_not(model), sentence("it has more than 100000 graphs inside of graphs"));
  model = small_model();
  for (int i = 0; i < 100'001; ++i) {
    model.mutable_graph()->add_initializer()->set_data_location(onnx::TensorProto::EXTERNAL);
  }
  EXPECT_EQ(why_not(model), sentence("it has more than 100000 tensors with external data"));
}

TEST_F(OnnxSummaryTest, NamesInSentencesHaveNoControlCharacters) {
  auto model = small_model();
  add_weight(*model.mutable_graph(), "a\nb\x1b[31m", {-1});
  EXPECT_EQ(why_not(model), sentence("tensor 'a\\x0ab\\x1b[31m' has a negative dimension"));
}

TEST_F(OnnxSummaryTest, EveryCutIsSeen) {
  ASSERT_TRUE(build_zoo_model("mlp", folder_ / "mlp.onnx").ok());
  const auto file = folder_ / "mlp.onnx";
  for (auto size = std::filesystem::file_size(file); size-- > 0;) {
    std::filesystem::resize_file(file, size);
    const auto result = read_onnx_summary(file);
    ASSERT_FALSE(result.ok()) << "cut to " << size << " bytes";
    ASSERT_EQ(result.error().kind, ErrorKind::model);
  }
}

TEST_F(OnnxSummaryTest, FlippedBitsNeverCrashIt) {
  ASSERT_TRUE(build_zoo_model("mlp", folder_ / "mlp.onnx").ok());
  const std::string whole = whole_file(folder_ / "mlp.onnx");
  const int descriptor = open((folder_ / "mlp.onnx").c_str(), O_RDWR | O_CLOEXEC);
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += at < 1024 || at + 512 > whole.size() ? 1 : 61) {
    for (int bit = 0; bit < 8; ++bit) {
      const char flipped = static_cast<char>(whole[at] ^ (1 << bit));
      ASSERT_EQ(pwrite(descriptor, &flipped, 1, static_cast<off_t>(at)), 1);
      const auto result = read_onnx_summary(folder_ / "mlp.onnx");
      if (!result.ok()) ++refused;
    }
    ASSERT_EQ(pwrite(descriptor, &whole[at], 1, static_cast<off_t>(at)), 1);
  }
  close(descriptor);
  EXPECT_GT(refused, 500);
  EXPECT_TRUE(read_onnx_summary(folder_ / "mlp.onnx").ok());
}

}  // namespace
}  // namespace infermeter::onnx_summary_test
