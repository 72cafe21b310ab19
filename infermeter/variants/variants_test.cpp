#include "infermeter/variants/variants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::variants_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

BackendInfo onnxruntime() {
  BackendInfo info;
  info.name = "onnxruntime";
  info.model_formats = {"onnx", "ort"};
  info.dtypes = {"float32"};
  info.options = {{"graph_optimization", "", ""}};
  return info;
}

BackendInfo openvino() {
  BackendInfo info;
  info.name = "openvino";
  info.model_formats = {"xml", "onnx"};
  info.dtypes = {"float32", "bfloat16"};
  return info;
}

BackendInfo pytorch() {
  BackendInfo info;
  info.name = "pytorch";
  info.model_formats = {"zoo", "python"};
  info.dtypes = {"float32", "bfloat16"};
  return info;
}

ModelFacts facts_of(const char* name, const char* format) {
  ModelFacts facts;
  facts.name = name;
  facts.format = format;
  return facts;
}

std::vector<std::string> labels(const Result<VariantList>& list) {
  std::vector<std::string> all;
  if (!list.ok()) return {list.error().message};
  for (const Variant& variant : list->variants) all.push_back(variant.label);
  return all;
}

Result<VariantList> list(const VariantsRequest& request, std::vector<BackendInfo> backends, const PlanDraft& draft = {},
                         const ModelFacts& model = facts_of("m.onnx", "onnx")) {
  return list_variants(request, draft, model, backends);
}

std::string why_not(const VariantsRequest& request, std::vector<BackendInfo> backends = {onnxruntime()}) {
  const auto made = list(request, std::move(backends));
  return made.ok() ? "it was listed" : made.error().message;
}

TEST(Variants, AllThatEachBackEndCan) {
  const auto all = list({}, {onnxruntime(), openvino()});
  EXPECT_THAT(labels(all), ElementsAre("float32@onnxruntime", "float16@onnxruntime", "bfloat16@onnxruntime",
                                       "int8-static@onnxruntime", "float32@openvino", "float16@openvino",
                                       "bfloat16@openvino", "int8-static@openvino", "int8-nncf@openvino"));
  const auto& variants = all->variants;
  EXPECT_EQ(variants[0].model, "m.onnx");
  EXPECT_EQ(variants[1].making->maker, "float16_onnx");
  EXPECT_EQ(variants[5].making->maker, "float16_openvino");
  EXPECT_EQ(variants[2].refusal, "onnxruntime executes no bfloat16 here, but float32");
  EXPECT_EQ(variants[6].refusal, "");
  EXPECT_EQ(variants[6].subject.dtype, Precision::bfloat16);
  EXPECT_FALSE(variants[6].making.has_value());
}

BackendInfo llama_cpp() {
  BackendInfo info;
  info.name = "llama-cpp";
  info.runtime_name = "llama.cpp";
  info.model_formats = {"hf", "gguf"};
  info.dtypes = {"float32"};
  return info;
}

TEST(Variants, OfALanguageModelAreItsWeightsInFewerBits) {
  const auto folder = list({}, {llama_cpp()}, {}, facts_of("tiny_llama", "hf"));
  EXPECT_THAT(labels(folder), ElementsAre("float32", "int8", "int4"));
  const auto& making = folder->variants[2].making;
  ASSERT_TRUE(making);
  EXPECT_EQ(making->maker, "weights_llama-cpp");
  EXPECT_EQ(making->ending, "config.json");
  EXPECT_THAT(making->options, ElementsAre(std::pair<std::string, std::string>("bits", "4")));
  ModelFacts given = facts_of("Llama-3.2-1B", "hf");
  given.path = "models/Llama-3.2-1B/config.json";
  EXPECT_EQ(saved_name(folder->variants[2], given), "Llama-3_2-1B.int4/config.json");
  const auto file =
      list({.precisions = {"int8", "bfloat16"}, .pruned_shares = {0.5}}, {llama_cpp()}, {}, facts_of("x.gguf", "gguf"));
  EXPECT_THAT(labels(file), ElementsAre("float32", "int8", "bfloat16", "pruned-50%"));
  EXPECT_EQ(file->variants[1].making->ending, "gguf");
  EXPECT_EQ(file->variants[2].refusal, "llama-cpp executes no bfloat16 here, but float32");
  EXPECT_EQ(file->variants[3].refusal, "language models are not pruned");
  EXPECT_THAT(list({.quantisations = {"static"}}, {llama_cpp()}, {}, facts_of("x.gguf", "gguf")).error().message,
              HasSubstr("--quantise is of other models"));
  const auto other = list({.precisions = {"int4"}}, {onnxruntime()});
  EXPECT_EQ(other->variants[1].refusal, "4-bit weights are of language models");
}

TEST(Variants, TheBaselineIsFloat32EvenWhereItIsNotAskedFor) {
  EXPECT_THAT(labels(list({.precisions = {"int8"}}, {onnxruntime()})), ElementsAre("float32", "int8-static"));
}

TEST(Variants, WhatIsAskedForByNameAndCannotBeIsListedWithTheReason) {
  const auto all = list({.precisions = {"int8"}, .quantisations = {"nncf", "dynamic"}}, {onnxruntime()});
  EXPECT_THAT(labels(all), ElementsAre("float32", "int8-nncf", "int8-dynamic"));
  EXPECT_EQ(all->variants[1].refusal, "NNCF makes an OpenVINO model, which onnxruntime does not read");
}

TEST(Variants, GraphLevelsAndThreadsMultiplyWhereTheyApply) {
  PlanDraft draft;
  draft.threads = {1, 2};
  const auto all =
      list({.precisions = {"float32"}, .graph_levels = {"none", "all"}}, {onnxruntime(), openvino()}, draft);
  EXPECT_THAT(labels(all),
              ElementsAre("float32@onnxruntime,graph=none,threads=1", "float32@onnxruntime,graph=none,threads=2",
                          "float32@onnxruntime,graph=all,threads=1", "float32@onnxruntime,graph=all,threads=2",
                          "float32@openvino,threads=1", "float32@openvino,threads=2"));
  EXPECT_THAT(all->variants[0].subject.options,
              ElementsAre(std::pair<std::string, std::string>("graph_optimization", "none")));
  EXPECT_THAT(all->notes, ElementsAre(HasSubstr("openvino has no levels of graph optimisation")));
}

TEST(Variants, PhasesAreOptionsOfPyTorch) {
  const VariantsRequest request{.phases = {"eager", "stacked", "tensorrt"}};
  EXPECT_THAT(backends_of(request, std::vector<std::string>{"onnxruntime", "pytorch"}), ElementsAre("pytorch"));
  const auto all = list(request, {pytorch()}, {}, facts_of("nets.py:make", "python"));
  EXPECT_THAT(labels(all), ElementsAre("eager", "stacked", "tensorrt"));
  EXPECT_EQ(all->variants[1].subject.dtype, Precision::bfloat16);
  EXPECT_EQ(all->variants[1].subject.options.size(), 4U);
  EXPECT_THAT(all->variants[2].refusal, HasSubstr("no TensorRT here"));
  const auto int8 = list({.precisions = {"int8"}}, {pytorch()}, {}, facts_of("nets.py:make", "python"));
  EXPECT_THAT(labels(int8), ElementsAre("eager", "int8-dynamic"));
  EXPECT_EQ(int8->variants[1].refusal, "");
  const auto phase = list({.phases = {"dynamic_int8"}}, {pytorch()}, {}, facts_of("nets.py:make", "python"));
  EXPECT_EQ(int8->variants[1].subject.options, phase->variants.back().subject.options);
  const auto nncf =
      list({.precisions = {"int8"}, .quantisations = {"nncf"}}, {pytorch()}, {}, facts_of("nets.py:make", "python"));
  EXPECT_THAT(nncf->variants[1].refusal, HasSubstr("--quantise dynamic"));
}

TEST(Variants, ABaselineThatCannotBeMeasuredIsNone) {
  BackendInfo broken;
  broken.name = "onnxruntime";
  broken.error = "its library is missing";
  const auto one_left = list({.precisions = {"float32"}}, {broken, openvino()});
  EXPECT_THAT(labels(one_left), ElementsAre("float32@openvino"));
  EXPECT_THAT(one_left->notes, ElementsAre(HasSubstr("its library is missing")));
  EXPECT_THAT(why_not({}, {broken}), HasSubstr("its library is missing"));
}

TEST(Variants, RefusesWhatIsNoVariant) {
  EXPECT_EQ(why_not({.precisions = {"float61"}}),
            "--precisions: there is no 'float61' (did you mean 'float16'?); it can be: float32, float16, bfloat16, "
            "int8, int4");
  EXPECT_THAT(why_not({.quantisations = {"statik"}}), HasSubstr("--quantise: there is no 'statik'"));
  EXPECT_THAT(why_not({.graph_levels = {"most"}}), HasSubstr("--graph-opt: there is no 'most'"));
  EXPECT_THAT(why_not({.phases = {"warp"}}), HasSubstr("--phases: there is no 'warp'"));
  EXPECT_THAT(why_not({.pruned_shares = {1.5}}), HasSubstr("a share of 1.5 cannot be pruned"));
  EXPECT_THAT(why_not({.calibration_items = 0}), HasSubstr("--calibration-items: 0 items cannot be"));
  EXPECT_EQ(*pruned_share_from_string("25%"), 0.25);
  for (const char* const text : {"0", "1", "100%", "-0.5", "half"})
    EXPECT_FALSE(pruned_share_from_string(text).ok()) << text;
}

TEST(Variants, NamedModelsAreMeasuredByWhatReadsThem) {
  const VariantsRequest request{.models = {"original:a.onnx", "quantized:b.xml", "other:c.tflite"}};
  const std::vector<ModelFacts> facts = {facts_of("a.onnx", "onnx"), facts_of("b.xml", "xml"),
                                         facts_of("c.tflite", "tflite")};
  const std::vector<BackendInfo> backends = {onnxruntime(), openvino()};
  const auto all = list_named_variants(request, {}, facts, backends);
  ASSERT_THAT(labels(all), ElementsAre("original", "quantized", "other"));
  EXPECT_EQ(all->variants[0].subject.backend, "onnxruntime");
  EXPECT_EQ(all->variants[1].subject.backend, "openvino");
  EXPECT_EQ(all->variants[1].model, "b.xml");
  EXPECT_THAT(all->variants[2].refusal, HasSubstr("no back end here reads it (tflite)"));
  const VariantsRequest twice{.models = {"a:x", "a:y"}};
  EXPECT_THAT(labels(list_named_variants(twice, {}, std::span(facts).first(2), backends)),
              ElementsAre("--models: two of them are called 'a'"));
  for (const char* const text : {"", "a", ":b", "a:"}) EXPECT_FALSE(named_model_from_string(text).ok()) << text;
}

TEST(Variants, ThePlanHasAGroupPerBatchSize) {
  PlanDraft draft;
  draft.batch_sizes = {1, 8};
  const auto all = list({.precisions = {"float32", "bfloat16"}}, {onnxruntime()}, draft);
  const auto planned = plan_variants(*all, draft);
  ASSERT_TRUE(planned.ok()) << planned.error().message;
  const auto& subjects = planned->plan.subjects;
  ASSERT_EQ(subjects.size(), 2U);
  EXPECT_EQ(subjects[0].label, "float32,batch=1");
  EXPECT_EQ(subjects[1].label, "float32,batch=8");
  EXPECT_EQ(subjects[1].group, 1);
  EXPECT_THAT(planned->set.entries[0].subjects, ElementsAre(0, 1));
  EXPECT_THAT(planned->set.entries[1].subjects, ElementsAre(std::nullopt, std::nullopt));
  EXPECT_EQ(planned->set.entries[1].refusal, all->variants[1].refusal);
}

}  // namespace
}  // namespace infermeter::variants_test
