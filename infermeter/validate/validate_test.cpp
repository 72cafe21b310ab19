#include "infermeter/validate/validate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace infermeter::validate_test {
namespace {

// Trials without processes: a model whose output is its input, less `lost` in the candidate's last item.
struct Stage {
  std::vector<std::size_t> items{};  // of each trial, in order
  float lost = 0;
  double again = 0;  // what the first trial adds to each value

  TrialResult operator()(const TrialJob& job, const TrialHooks& hooks) {
    TrialResult result;
    result.inputs = {{.name = "x", .dtype = DType::float32, .shape = {-1, 64}, .batch_axis = 0}};
    const auto data = hooks.data(result.inputs);
    if (!data.ok()) {
      result.samples.end = TrialEnd::load_failed;
      result.samples.message = data.error().message;
      return result;
    }
    for (const DataItem& item : data->items) {
      std::vector<double> numbers = *to_doubles(item.inputs[0].tensor);
      std::vector<float> values(numbers.begin(), numbers.end());
      if (items.empty()) std::ranges::for_each(values, [&](float& value) { value += static_cast<float>(again); });
      if (job.subject.label == "b" && item.name == "synthetic 6") values[3] -= lost;
      Value value{.tensor = make_tensor<float>(DType::float32, {1, 64}, std::span<const float>(values)),
                  .elements = {}};
      result.output_values.push_back({value});
    }
    items.push_back(data->items.size());
    result.samples.outputs = {{.name = "y", .dtype = "float32", .shape = {1, 64}}};
    result.samples.executed = {{"dtype", "float32"}};
    return result;
  }
};

Result<Validation> staged(Stage& stage, ValidationRequest request) {
  for (const char* name : {"a", "b"})
    request.plan.subjects.push_back({.label = name, .model = name, .backend = "fake"});
  RunContext context;
  context.models = {{"a", {}}, {"b", {}}};
  context.trial = [&](const Launcher&, const TrialJob& job, const TrialHooks& hooks) { return stage(job, hooks); };
  return validate(request, context);
}

ValidationRequest seven_items(std::uint64_t most_bytes) {
  ValidationRequest request;
  request.plan.data.limit = 7;
  request.most_bytes = most_bytes;
  return request;
}

// An item has 256 bytes of inputs and as many of outputs.
TEST(Validate, NoMoreIsHeldAtOnceThanMayBe) {
  Stage stage;
  const auto whole = staged(stage, seven_items(1 << 20));
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_EQ(stage.items, (std::vector<std::size_t>{7, 7, 7}));
  Stage parts;
  const auto in_parts = staged(parts, seven_items(600));
  ASSERT_TRUE(in_parts.ok()) << in_parts.error().message;
  EXPECT_EQ(parts.items, (std::vector<std::size_t>{2, 2, 2, 2, 2, 2, 2, 1, 1}));
  EXPECT_EQ(in_parts->items, whole->items);
  EXPECT_TRUE(in_parts->outputs.agree);
  Stage single;
  ASSERT_TRUE(staged(single, seven_items(1)).ok());
  EXPECT_EQ(*std::ranges::max_element(single.items), 1U);  // one item, however large
}

TEST(Validate, WhatDiffersInALaterPartIsFound) {
  Stage stage{.lost = 0.5F};
  const auto validation = staged(stage, seven_items(600));
  ASSERT_TRUE(validation.ok());
  EXPECT_EQ(outcome_of(*validation), Outcome::fail);
  EXPECT_EQ(validation->outputs.outputs[0].max_absolute_item, 6U);
  EXPECT_EQ(validation->outputs.outputs[0].max_absolute_index, 3U);
  EXPECT_FALSE(validation->samples.at(6).within_tolerance);
  EXPECT_TRUE(validation->samples.at(5).within_tolerance);
}

TEST(Validate, WhatTheBaselineDiffersFromItselfByIsAllowed) {
  Stage stage{.lost = 0.2F, .again = 0.3};
  const auto validation = staged(stage, seven_items(1 << 20));
  ASSERT_TRUE(validation.ok());
  EXPECT_EQ(validation->again_items, 7U);
  EXPECT_NEAR(validation->outputs.outputs[0].tolerance.floor, 0.3, 1e-6);
  EXPECT_EQ(outcome_of(*validation), Outcome::pass);
}

TEST(Validate, ABaselineThatDiffersFromItselfByAsMuchAsItsOutputsSaysNothing) {
  Stage stage{.lost = 0.5F, .again = 1};
  const auto validation = staged(stage, seven_items(1 << 20));
  ASSERT_TRUE(validation.ok());
  EXPECT_EQ(outcome_of(*validation), Outcome::inconclusive);
}

TEST(Validate, ShowsEachItemWithBothOutputs) {
  Stage stage{.lost = 0.5F};
  ValidationRequest request = seven_items(600);
  std::vector<std::size_t> shown;
  request.on_outputs = [&](std::size_t item, const DataItem& data, const ItemValues& baseline,
                           const ItemValues& candidate) -> Result<Done> {
    shown.push_back(item);
    EXPECT_EQ(data.name, "synthetic " + std::to_string(item));
    EXPECT_EQ(digest(baseline) == digest(candidate), item != 6);
    return Done{};
  };
  ASSERT_TRUE(staged(stage, request).ok());
  EXPECT_EQ(shown, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace infermeter::validate_test
