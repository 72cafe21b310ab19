#include "infermeter/data/batch_axis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infermeter::batch_axis_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Optional;

constexpr auto none = std::nullopt;

// Of names; a number is a fixed size, "" a dynamic dimension without a name.
Port port(std::string name, const std::vector<std::string>& dimensions) {
  Port made{.name = std::move(name), .dtype = DType::float32};
  for (const std::string& dimension : dimensions) {
    const bool is_size = !dimension.empty() && dimension.find_first_not_of("0123456789") == std::string::npos;
    made.shape.push_back(is_size ? std::stoll(dimension) : -1);
    made.dimension_names.push_back(is_size ? "" : dimension);
  }
  return made;
}

BatchAxes axes(const std::vector<Port>& ports, const AskedAxes& asked = {}) {
  const auto found = batch_axes(ports, asked);
  EXPECT_TRUE(found.ok()) << found.error().message;
  return found.ok() ? *found : BatchAxes{};
}

std::string complaint(const std::vector<Port>& ports, const AskedAxes& asked = {}) {
  const auto found = batch_axes(ports, asked);
  return found.ok() ? "accepted" : found.error().message;
}

TEST(BatchAxes, ADimensionCalledBatchIsIt) {
  EXPECT_THAT(axes({port("x", {"batch", "3", "height"})}), ElementsAre(Optional(0)));
  EXPECT_THAT(axes({port("x", {"seq", "Batch_Size", "40"})}), ElementsAre(Optional(1)));
  EXPECT_THAT(axes({port("x", {"seq", "batch", "40"}), port("h", {"batch", "64"}), port("s", {})}),
              ElementsAre(Optional(1), Optional(0), none));
  EXPECT_THAT(axes({port("ids", {"batch", "seq"}), port("table", {"rows", "64"}), port("k", {"", "64"})}),
              ElementsAre(Optional(0), none, none));
}

TEST(BatchAxes, ALetterIsOnlyInFront) {
  for (const char* const letter : {"N", "n", "B", "bs"}) {
    EXPECT_THAT(axes({port("x", {letter, "3"}), port("y", {letter})}), ElementsAre(Optional(0), Optional(0)));
  }
  EXPECT_THAT(axes({port("x", {"T", "N", "40"})}), ElementsAre(none));
  EXPECT_THAT(axes({port("graph", {"N", "N"})}), ElementsAre(none));
  EXPECT_THAT(axes({port("x", {"N", "3"}), port("mask", {"5", "N"})}), ElementsAre(none, none));
  EXPECT_THAT(axes({port("points", {"batch", "N", "3"})}), ElementsAre(Optional(0)));
}

TEST(BatchAxes, ANamelessFirstDimensionIsItWhereNoOtherIsNameless) {
  EXPECT_THAT(axes({port("x", {"", "3"}), port("y", {""})}), ElementsAre(Optional(0), Optional(0)));
  EXPECT_THAT(axes({port("x", {"", "3", "height", "width"})}), ElementsAre(Optional(0)));
  EXPECT_THAT(axes({port("x", {"", "", "40"})}), ElementsAre(none));
  EXPECT_THAT(axes({port("x", {"", "3"}), port("y", {"4", ""})}), ElementsAre(none, none));
  for (const char* const made_up :
       {"unk__12", "s0", "s77", "x_dynamic_axes_1", "DynamicDimension.0", "p2o.DynamicDimension.3", "?", "x.0"}) {
    EXPECT_THAT(axes({port("x", {made_up, "3"})}), ElementsAre(Optional(0))) << made_up;
  }
}

TEST(BatchAxes, OtherNamesAndFixedSizesAreNone) {
  EXPECT_THAT(axes({port("x", {"48", "64"})}), ElementsAre(none));
  EXPECT_THAT(axes({port("x", {"8", "3", "32", "32"})}), ElementsAre(none));
  EXPECT_THAT(axes({port("x", {"seq", "40"})}), ElementsAre(none));
  EXPECT_THAT(axes({port("x", {"seq", ""})}), ElementsAre(none));
  EXPECT_THAT(axes({port("s", {})}), ElementsAre(none));
}

TEST(BatchAxes, WhatTheUserSaysBeatsTheModel) {
  const std::vector<Port> two{port("x", {"seq", "batch", "40"}), port("h", {"1", "batch", "64"})};
  EXPECT_THAT(axes(two, {{"x", "0"}}), ElementsAre(Optional(0), Optional(1)));
  EXPECT_THAT(axes(two, {{"h", "none"}}), ElementsAre(Optional(1), none));
  EXPECT_THAT(axes(two, {{"", "none"}}), ElementsAre(none, none));
  EXPECT_THAT(axes(two, {{"", "none"}, {"x", "1"}}), ElementsAre(Optional(1), none));
  EXPECT_THAT(axes({port("x", {"8", "3"})}, {{"x", "0"}}), ElementsAre(Optional(0)));
}

TEST(BatchAxes, WhatCannotBeIsRefused) {
  const std::vector<Port> one{port("x", {"batch", "3"})};
  EXPECT_THAT(complaint(one, {{"y", "0"}}), AllOf(HasSubstr("input 'y'"), HasSubstr("inputs are 'x'")));
  EXPECT_THAT(complaint(one, {{"x", "2"}}), HasSubstr("has no dimension 2"));
  EXPECT_THAT(complaint(one, {{"x", "first"}}), HasSubstr("expected a dimension, counted from 0, or none"));
  EXPECT_THAT(complaint(one, {{"", "0"}}), HasSubstr("--batch-axis x=0"));
  EXPECT_THAT(complaint({port("x", {"batch", "batch"})}), HasSubstr("say which is the batch with --batch-axis x=0"));
  EXPECT_THAT(complaint({port("x", {"batch"}), port("y", {"other_batch"})}), HasSubstr("--batch-axis y=none"));
  EXPECT_THAT(complaint({port("x", {"N"}), port("y", {"B"})}), HasSubstr("--batch-axis"));
  EXPECT_THAT(axes({port("x", {"batch"}), port("y", {"other_batch"})}, {{"y", "none"}}),
              ElementsAre(Optional(0), none));
}

std::vector<Port> with_axes(std::vector<Port> ports, const BatchAxes& axes) {
  for (std::size_t i = 0; i < ports.size(); ++i) ports[i].batch_axis = axes[i];
  return ports;
}

TEST(ItemsPerInference, AreTheBatchOrOne) {
  EXPECT_EQ(*items_per_inference(with_axes({port("x", {"4", "3"})}, {0}), 4), 4);
  EXPECT_EQ(*items_per_inference(with_axes({port("x", {"", "3"})}, {0}), 4), 4);
  EXPECT_EQ(*items_per_inference(std::vector{port("x", {"48", "64"})}, 1), 1);
  EXPECT_EQ(*items_per_inference({}, 4), 4);  // it makes its own
  const auto fixed = items_per_inference(with_axes({port("x", {"8", "3"})}, {0}), 1);
  EXPECT_THAT(fixed.error().message, AllOf(HasSubstr("an inference has 8 items"), HasSubstr("--batch-sizes 8")));
  const auto without = items_per_inference(std::vector{port("x", {"48", "64"})}, 48);
  EXPECT_THAT(without.error().message, AllOf(HasSubstr("leave --batch-sizes out"), HasSubstr("--batch-axis x=0")));
  const auto behind = items_per_inference(std::vector{port("x", {"50", "n", "40"})}, 8);
  EXPECT_THAT(behind.error().message, HasSubstr("--batch-axis x=1"));
  const auto nowhere = items_per_inference(std::vector{port("x", {"48", "64"})}, 4);
  EXPECT_THAT(nowhere.error().message, EndsWith("leave --batch-sizes out"));  // nothing else would help
}

TEST(ItemsPerInference, DataMustHaveAsMany) {
  const std::vector<Port> inputs = with_axes({port("x", {"", "3"}), port("h", {"2"})}, {0, none});
  const auto item = [](Shape shape) {
    return ItemValues{{.tensor = {DType::float32, std::move(shape), {}, {}}},
                      {.tensor = {DType::float32, {2}, {}, {}}}};
  };
  EXPECT_TRUE(check_items(inputs, std::vector<ItemValues>{item({4, 3})}, 4).ok());
  EXPECT_THAT(check_items(inputs, std::vector<ItemValues>{item({5, 3})}, 4).error().message,
              HasSubstr("--batch-sizes 5"));
}

TEST(OutputBatchAxis, IsTheInputsWhereItHasThatSize) {
  const std::vector<Port> times = with_axes({port("x", {"50", "8", "40"})}, {1});
  const Port unnamed = port("y", {"", "", ""});
  EXPECT_THAT(output_batch_axis(times, unnamed, Shape{50, 8, 16}, 8), Optional(1));
  EXPECT_EQ(output_batch_axis(times, unnamed, Shape{8, 50, 16}, 8), none);  // compared as one whole
  EXPECT_EQ(output_batch_axis(times, unnamed, Shape{8}, 8), none);
  const std::vector<Port> named = with_axes({port("x", {"batch", "3"})}, {0});
  EXPECT_THAT(output_batch_axis(named, port("y", {"10", "batch"}), Shape{10, 10}, 10), Optional(1));
  EXPECT_EQ(output_batch_axis(std::vector{port("x", {"4", "4"})}, unnamed, Shape{4}, 1), none);
}

TEST(BatchAxesText, SaysWhatWasTakenForWhat) {
  const std::vector<Port> ports{port("x", {"3", "4"}), port("h", {"3"})};
  EXPECT_EQ(batch_axes_text(with_axes(ports, {1, none})), "x=1, h=none");
  EXPECT_EQ(batch_axes_text(ports), "none");
}

}  // namespace
}  // namespace infermeter::batch_axis_test
