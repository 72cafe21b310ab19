#include "infermeter/models/onnx/expose_outputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "infermeter/models/resolve.hpp"
#include "infermeter/models/test_folder.hpp"
#include "infermeter/text/whole_file.hpp"

namespace infermeter::expose_outputs_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

onnx::NodeProto* add_node(onnx::GraphProto& graph, const std::string& op, const std::string& name,
                          std::vector<std::string> inputs, std::vector<std::string> outputs) {
  auto* node = graph.add_node();
  node->set_op_type(op);
  node->set_name(name);
  for (auto& input : inputs) node->add_input(std::move(input));
  for (auto& output : outputs) node->add_output(std::move(output));
  return node;
}

onnx::ValueInfoProto* typed(onnx::ValueInfoProto* info, const std::string& name) {
  info->set_name(name);
  info->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  return info;
}

// x -> Relu a -> Split b, "" -> If c (with d inside) -> y, and a constant.
onnx::ModelProto example() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.set_producer_name("before");
  model.add_opset_import()->set_version(17);
  auto& graph = *model.mutable_graph();
  graph.set_name("g");
  typed(graph.add_input(), "x");
  typed(graph.add_output(), "y");
  add_node(graph, "Relu", "first", {"x"}, {"a"});
  add_node(graph, "Constant", "number", {}, {"k"});
  add_node(graph, "Split", "", {"a"}, {"b", ""});
  auto* branch = add_node(graph, "If", "if", {"b"}, {"c"})->add_attribute();
  branch->set_name("then_branch");
  branch->set_type(onnx::AttributeProto::GRAPH);
  add_node(*branch->mutable_g(), "Relu", "inner", {"b"}, {"d"});
  add_node(graph, "Relu", "last", {"c"}, {"y"});
  return model;
}

class ExposeOutputs : public testing::Test {
 protected:
  ExposeOutputs() { std::filesystem::create_directory(to()); }
  [[nodiscard]] std::filesystem::path to() const { return folder_ / "copy"; }
  Result<ExposedModel> expose(const onnx::ModelProto& model) {
    const auto facts = resolve_model(folder_.write("m.onnx", model.SerializeAsString()).string(), {});
    if (!facts.ok()) return facts.error();
    return expose_outputs(*facts, to());
  }

  TestFolder folder_;
};

std::vector<std::string> names(const ExposedModel& exposed) {
  std::vector<std::string> result;
  for (const auto& tensor : exposed.tensors) result.push_back(tensor.name);
  return result;
}

TEST_F(ExposeOutputs, NodesOfTheMainGraphAndNothingElse) {
  const auto exposed = expose(example());
  ASSERT_TRUE(exposed.ok()) << exposed.error().message;
  EXPECT_THAT(names(*exposed), ElementsAre("y", "a", "b", "c"));
  EXPECT_EQ(exposed->tensors[0].position, 4U);
  EXPECT_EQ(exposed->tensors[1].op, "Relu");
  EXPECT_EQ(exposed->tensors[1].node, "first");
  EXPECT_EQ(exposed->tensors[2].position, 2U);
}

TEST_F(ExposeOutputs, TheCopyIsTheFileWithMoreOutputs) {
  onnx::ModelProto model = example();
  const auto exposed = expose(model);
  ASSERT_TRUE(exposed.ok());
  onnx::ModelProto copy;
  ASSERT_TRUE(copy.ParseFromString(whole_file(exposed->file.path)));
  std::vector<std::string> outputs;
  for (const auto& output : copy.graph().output()) outputs.push_back(output.name());
  EXPECT_EQ(outputs, names(*exposed));
  EXPECT_FALSE(copy.graph().output(1).has_type());
  copy.mutable_graph()->mutable_output()->DeleteSubrange(1, 3);
  EXPECT_EQ(copy.SerializeAsString(), model.SerializeAsString());
}

// Other writers put the graph first, or opset and name behind it.
TEST_F(ExposeOutputs, WhateverStandsBehindTheGraphStays) {
  onnx::ModelProto head = example(), tail;
  tail.set_domain("behind");
  const auto facts =
      resolve_model(folder_.write("m.onnx", head.SerializeAsString() + tail.SerializeAsString()).string(), {});
  ASSERT_TRUE(facts.ok());
  const auto exposed = expose_outputs(*facts, to());
  ASSERT_TRUE(exposed.ok());
  onnx::ModelProto copy;
  ASSERT_TRUE(copy.ParseFromString(whole_file(exposed->file.path)));
  EXPECT_EQ(copy.domain(), "behind");
  EXPECT_EQ(copy.graph().output_size(), 4);
}

TEST_F(ExposeOutputs, WeightFilesComeAlong) {
  std::filesystem::create_directory(folder_ / "sub");
  folder_.write("sub/w.bin", std::string(16, 'w'));
  onnx::ModelProto model = example();
  auto* weight = model.mutable_graph()->add_initializer();
  weight->set_name("w");
  weight->set_data_type(onnx::TensorProto::FLOAT);
  weight->add_dims(4);
  weight->set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = weight->add_external_data();
  entry->set_key("location");
  entry->set_value("sub/w.bin");
  const auto exposed = expose(model);
  ASSERT_TRUE(exposed.ok()) << exposed.error().message;
  EXPECT_THAT(exposed->file.weight_files, ElementsAre((to() / "sub" / "w.bin").string()));
  EXPECT_EQ(whole_file(to() / "sub" / "w.bin"), std::string(16, 'w'));
}

TEST_F(ExposeOutputs, TooManyTensorsAreRefused) {
  onnx::ModelProto model = example();
  for (int i = 0; i < 5000; ++i) add_node(*model.mutable_graph(), "Relu", "", {"x"}, {"n" + std::to_string(i)});
  const auto exposed = expose(model);
  ASSERT_FALSE(exposed.ok());
  EXPECT_THAT(exposed.error().message, HasSubstr("has 5004 intermediate tensors, more than the 4096"));
}

TEST_F(ExposeOutputs, OtherFormatsAreRefused) {
  const auto exposed = expose_outputs({.name = "m.xml",
                                       .path = "/m.xml",
                                       .format = "xml",
                                       .sha256 = "",
                                       .size_bytes = 1,
                                       .parameters = {},
                                       .weight_files = {}},
                                      to());
  ASSERT_FALSE(exposed.ok());
  EXPECT_EQ(exposed.error().kind, ErrorKind::usage);
  EXPECT_THAT(exposed.error().message, HasSubstr("'m.xml' is not an ONNX file"));
}

}  // namespace
}  // namespace infermeter::expose_outputs_test
