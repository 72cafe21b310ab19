#include "infermeter/report/layers/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace infermeter::layers_report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

LayerDifference layer(const std::string& name, double error) {
  LayerDifference tensor{.name = name,
                         .candidate_name = name,
                         .node = name,
                         .op = "Conv",
                         .position = 3,
                         .dtype = "float32",
                         .candidate_dtype = "float32",
                         .shape = {1, 8},
                         .reason = {},
                         .tally = {},
                         .floor = 1e-5};
  tensor.tally.count = tensor.tally.finite = 8;
  tensor.tally.sum_reference_squared = 1;
  tensor.tally.sum_difference_squared = error * error;
  tensor.tally.max_absolute = error;
  tensor.tally.largest_reference = 1;
  return tensor;
}

LayersRecord record_of(const std::vector<double>& errors) {
  LayersRecord record;
  record.reference.label = "a";
  record.candidate.label = "b";
  for (Samples* trial : {&record.reference_trial, &record.candidate_trial}) {
    trial->executed = {{"runtime", "Fake"}, {"runtime_version", "1"}, {"dtype", "float32"}};
  }
  record.item = "synthetic 0";
  for (std::size_t i = 0; i < errors.size(); ++i) {
    record.growth.tensors.push_back(layer("t" + std::to_string(i), errors[i]));
    if (errors[i] > 0 && !record.growth.first_difference) record.growth.first_difference = i;
  }
  return record;
}

// One line, whatever the width broke.
std::string flat(std::string text) {
  for (std::size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ")) text.replace(at, 3, " ");
  return text;
}

TEST(LayersReport, TheJumpComesFirst) {
  LayersRecord record = record_of({0, 1e-6, 0.25, 0.5});
  record.growth.jump = 2;
  record.growth.before_jump = 1e-6;
  const std::string text = flat(render_layers(record, 80, false));
  EXPECT_THAT(text, HasSubstr("✗ they diverge at t2 (Conv, node 3): relative L2 error 0.25, above the 1e-05 that "
                              "rounding explains; before it at most 1e-06"));
  EXPECT_THAT(text, HasSubstr("reference: a, Fake 1, executed in float32"));
  EXPECT_THAT(render_layers(record, 80, false), HasSubstr("\n    ^ they diverge here\n"));  // below the third column
  EXPECT_THAT(text, HasSubstr("largest"));
  EXPECT_THAT(text, HasSubstr("keeps runtimes from fusing"));
}

TEST(LayersReport, WhereTheyDoNotPart) {
  EXPECT_THAT(flat(render_layers(record_of({0, 0}), 80, false)), HasSubstr("✓ the same numbers in all 2 tensors"));
  EXPECT_THAT(
      flat(render_layers(record_of({0, 1e-6}), 80, false)),
      HasSubstr("✓ they diverge nowhere beyond what rounding explains: the largest relative L2 error is 1e-06"));
  EXPECT_THAT(flat(render_layers(record_of({1e-5, 9e-5, 8e-4}), 80, false)),
              HasSubstr("⚠ the error grows step by step, nowhere 10 times at once"));
  EXPECT_THAT(flat(render_layers(record_of({}), 80, false)), HasSubstr("⚠ no tensor of the one has a partner"));
}

TEST(LayersReport, WhatCouldNotBeComparedIsNotTheSame) {
  LayersRecord record = record_of({0, 0});
  record.growth.tensors[1].reason = "holds texts that differ";
  const std::string line = "could not be compared: t1, which holds texts that differ";
  EXPECT_THAT(flat(render_layers(record, 80, false)),
              HasSubstr("⚠ the same numbers in the 1 tensor that could be compared; 1 tensor " + line));
  EXPECT_EQ(nlohmann::json::parse(render_layers_json(record))["answers"][0]["n"], 1);
  record.growth.tensors.erase(record.growth.tensors.begin());
  EXPECT_THAT(flat(render_layers(record, 80, false)), HasSubstr("⚠ 1 tensor " + line));
  record.growth.tensors[0].is_apart = true;
  record.growth.jump = record.growth.first_difference = 0;
  EXPECT_THAT(flat(render_layers(record, 80, false)),
              HasSubstr("✗ they diverge at t1 (Conv, node 3): it holds texts that differ; before it"));
}

TEST(LayersReport, ANumberInOneOnly) {
  LayersRecord record = record_of({0, 0});
  record.growth.tensors[1].tally.non_finite_apart = 2;
  record.growth.jump = record.growth.first_difference = 1;
  EXPECT_THAT(flat(render_layers(record, 80, false)),
              HasSubstr("2 of its 8 values are NaN or infinite in one of the two only; before it all numbers"));
  const auto json = nlohmann::json::parse(render_layers_json(record));
  EXPECT_TRUE(json["tensors"][1]["error"].is_null());
  EXPECT_EQ(json["tensors"][1]["non_finite_apart"], 2);
}

TEST(LayersReport, NamesFromFilesAreMadeSafe) {
  LayersRecord record = record_of({0, 0.5});
  record.growth.jump = 1;
  record.growth.tensors[1].name = record.growth.tensors[1].op = "\x1b[31m\n";
  record.growth.reference_only = {"\x07"};
  EXPECT_THAT(render_layers(record, 80, false), Not(testing::ContainsRegex("[\x1b\x07]")));
  EXPECT_EQ(nlohmann::json::parse(render_layers_json(record))["tensors"][1]["name"], "\x1b[31m\n");
}

TEST(LayersReport, LongNamesKeepTheirEnds) {
  LayersRecord record = record_of({0, 1e-6});
  record.growth.tensors[1].name = "encoder.layers.encoder_layer_10.self_attention.scores";
  EXPECT_THAT(render_layers(record, 80, false), HasSubstr("\n…_10.self_attention.scores  Conv"));
}

TEST(LayersReport, JsonHasEveryTensor) {
  LayersRecord record = record_of({0, 1e-6, 0.25});
  record.growth.jump = 2;
  record.growth.candidate_only = {"q"};
  const auto json = nlohmann::json::parse(render_layers_json(record));
  EXPECT_EQ(json["schema"], "infermeter.layers/1");
  EXPECT_EQ(json["jump"], 2);
  EXPECT_EQ(json["worst"], 2);
  EXPECT_EQ(json["first_difference"], 1);
  EXPECT_EQ(json["tensors"].size(), 3U);
  EXPECT_DOUBLE_EQ(json["tensors"][2]["relative_l2"], 0.25);
  EXPECT_EQ(json["candidate_only"][0], "q");
}

// x -> conv -> split (a, b) -> add, which reads a constant node's result as well.
TEST(LayersReport, JsonHasTheGraphWithoutConstants) {
  LayersRecord record = record_of({0, 0.25, 0.5});
  const auto tensor = [&](const std::string& name, bool is_constant) {
    record.graph.tensors.push_back({.name = name, .dtype = {}, .shape = {}, .is_constant = is_constant});
  };
  for (const char* name : {"x", "t0", "t2", "t1", "y"}) tensor(name, false);
  tensor("c", true);
  record.graph.nodes = {{.name = "constant", .kind = "Constant", .inputs = {}, .outputs = {5}, .flops = {}},
                        {.name = "conv", .kind = "Conv", .inputs = {0}, .outputs = {1}, .flops = {}},
                        {.name = "split", .kind = "Split", .inputs = {1}, .outputs = {2, 3}, .flops = {}},
                        {.name = "add\n", .kind = "Add", .inputs = {2, 5, 3}, .outputs = {4, 99}, .flops = {}}};
  const auto graph = nlohmann::json::parse(render_layers_json(record))["graph"];
  ASSERT_EQ(graph["nodes"].size(), 3U);
  EXPECT_EQ(graph["nodes"][1], (nlohmann::json{{"name", "split"}, {"operator", "Split"}, {"tensors", {2, 1}}}));
  EXPECT_EQ(graph["nodes"][2]["name"], "add\n");
  EXPECT_EQ(graph["nodes"][2]["tensors"].size(), 0U) << "y was not compared";
  EXPECT_EQ(graph["from"], (nlohmann::json{0, 1}));
  EXPECT_EQ(graph["to"], (nlohmann::json{1, 2}));
  EXPECT_EQ(graph["left_out"], 0);
}

}  // namespace
}  // namespace infermeter::layers_report_test
