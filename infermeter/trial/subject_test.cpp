#include "infermeter/trial/subject.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "infermeter/trial/simulated_subject.hpp"

namespace infermeter::subject_test {
namespace {

using namespace test;
using testing::HasSubstr;

Value string_value() {
  return {
      .kind = Value::Kind::tensor, .tensor = {DType::string, {2}, {}, {std::string("a\0b", 3), "ä"}}, .elements = {}};
}

Value float_value() {
  const float numbers[] = {1, 2, 3};
  return {.kind = Value::Kind::tensor, .tensor = make_tensor<float>(DType::float32, {3, 1}, numbers), .elements = {}};
}

Value copied(const Value& value) { return value_from_abi(AbiValue(value).view()).value(); }

TEST(AbiValues, ComeBackAsTheyWent) {
  const Value sequence{.kind = Value::Kind::sequence, .tensor = {}, .elements = {float_value(), string_value()}};
  const Value absent{.kind = Value::Kind::none, .tensor = {}, .elements = {}};
  for (const Value& value : {float_value(), string_value(), sequence, absent}) {
    const Value back = copied(value);
    EXPECT_EQ(back.kind, value.kind);
    EXPECT_EQ(digest({{back}}), digest({{value}}));
  }
}

TEST(AbiValues, ViewsSurviveAMove) {
  const Value sequence{.kind = Value::Kind::sequence, .tensor = {}, .elements = {string_value(), string_value()}};
  std::vector<AbiValue> views;
  for (int i = 0; i < 20; ++i) views.emplace_back(sequence);  // grows, and moves
  EXPECT_EQ(digest({{value_from_abi(views.front().view()).value()}}), digest({{sequence}}));
}

TEST(AbiValues, WhatABackEndSaysOfSizesIsChecked) {
  const float numbers[] = {1, 2};
  const std::int64_t shape[] = {2}, huge[] = {INT64_MAX, 9}, negative[] = {-1};
  const imb_value good{IMB_TENSOR, IMB_FLOAT32, 1, shape, numbers, 8, nullptr, 0, nullptr};
  ASSERT_TRUE(value_from_abi(good).ok());
  const auto refused = [&](auto change) {
    imb_value value = good;
    change(value);
    const auto result = value_from_abi(value);
    return result.ok() ? std::string("accepted") : result.error().message;
  };
  EXPECT_THAT(refused([](imb_value& v) { v.size_bytes = 12; }), HasSubstr("12 bytes for a tensor of shape [2]"));
  EXPECT_THAT(refused([](imb_value& v) { v.data = nullptr; }), HasSubstr("8 bytes"));
  EXPECT_THAT(refused([](imb_value& v) { v.shape = nullptr; }), HasSubstr("without a shape"));
  EXPECT_THAT(refused([](imb_value& v) { v.rank = 1000; }), HasSubstr("rank 1000"));
  EXPECT_THAT(refused([&](imb_value& v) { v.shape = huge, v.rank = 2; }), HasSubstr("impossible shape"));
  EXPECT_THAT(refused([&](imb_value& v) { v.shape = negative; }), HasSubstr("impossible shape"));
  EXPECT_THAT(refused([](imb_value& v) { v.dtype = IMB_UNDEFINED; }), HasSubstr("8 bytes"));
  EXPECT_THAT(refused([](imb_value& v) { v.dtype = IMB_STRING; }), HasSubstr("without its strings"));
  EXPECT_THAT(refused([](imb_value& v) { v.kind = IMB_SEQUENCE, v.element_count = 5; }), HasSubstr("neither"));
  const std::int64_t many[] = {1 << 25};
  EXPECT_THAT(refused([&](imb_value& v) { v.dtype = IMB_STRING, v.shape = many; }), HasSubstr("too many"));
  std::vector<imb_value> nested(20, good);
  for (std::size_t i = 1; i < nested.size(); ++i) {
    nested[i].kind = IMB_SEQUENCE;
    nested[i].element_count = 1;
    nested[i].elements = &nested[i - 1];
  }
  EXPECT_THAT(value_from_abi(nested.back()).error().message, HasSubstr("nested deeper than 8"));
}

TEST(AbiMessage, IsOneCleanLine) {
  AbiMessage message;
  std::strcpy(message.slot().text, "  line one\nline two\x1b[31m\n");
  const Error error = message.error(IMB_MODEL_ERROR, "loading");
  EXPECT_EQ(error.message, "loading: line one line two [31m");
  EXPECT_EQ(error.kind, ErrorKind::model);
}

TEST(AbiMessage, SaysWhatTheStatusMeansWhereTheBackEndIsSilent) {
  const std::pair<imb_status, ErrorKind> kinds[] = {
      {IMB_INVALID_ARGUMENT, ErrorKind::usage}, {IMB_UNSUPPORTED, ErrorKind::usage},
      {IMB_LIBRARY_MISSING, ErrorKind::usage},  {IMB_LIBRARY_TOO_OLD, ErrorKind::usage},
      {IMB_MODEL_ERROR, ErrorKind::model},      {IMB_RUN_ERROR, ErrorKind::model},
      {IMB_OUT_OF_MEMORY, ErrorKind::worker},   {static_cast<imb_status>(7), ErrorKind::worker}};
  for (const auto& [status, kind] : kinds) {
    const Error error = AbiMessage().error(status, "");
    EXPECT_EQ(error.kind, kind) << status;
    EXPECT_FALSE(error.message.empty());
  }
}

TEST(AbiMessage, ABackEndThatDoesNotEndItsTextIsCut) {
  AbiMessage message;
  const imb_message slot = message.slot();
  std::memset(slot.text, 'x', slot.capacity);
  EXPECT_EQ(message.error(IMB_RUN_ERROR, "").message.size(), slot.capacity);
}

TEST(CheckBackend, NamesWhatIsMissing) {
  EXPECT_THAT(check_backend(nullptr, "odd").error().message,
              HasSubstr("back end 'odd' cannot be used: it gives no table"));
  imb_backend backend = simulated_backend();
  EXPECT_TRUE(check_backend(&backend, "odd").ok());
  backend.run = nullptr;
  EXPECT_THAT(check_backend(&backend, "odd").error().message, HasSubstr("the slot 'run' is empty"));
  backend = simulated_backend();
  backend.abi_version = 9;
  EXPECT_THAT(check_backend(&backend, "odd").error().message, HasSubstr("ABI version 9, this is 1"));
  backend = simulated_backend();
  backend.struct_size = offsetof(imb_backend, between);  // built before there was that slot
  EXPECT_TRUE(check_backend(&backend, "odd").ok());
  backend.struct_size -= 8;
  EXPECT_THAT(check_backend(&backend, "odd").error().message, HasSubstr("shorter"));
}

TEST(PlanLoad, DecidesEverythingThatIsLeftOpen) {
  Subject subject;
  subject.batch_size = 4;
  const LoadPlan plan = plan_load(subject, {"model.sim", ""}, table::info, 6).value();
  EXPECT_EQ(plan.threads, 6);
  EXPECT_EQ(plan.device, "cpu");
  EXPECT_EQ(plan.dtype, "float32");
  EXPECT_EQ(plan.batch, 4);
  subject.threads = 2;
  subject.device = "cuda";
  EXPECT_EQ(plan_load(subject, {"model.sim", ""}, table::info, 6).value().threads, 2);
  imb_runtime_info none = table::info;
  none.device_count = 0;
  subject.device = "auto";
  EXPECT_THAT(plan_load(subject, {"model.sim", ""}, none, 6).error().message, HasSubstr("has no device"));
  none = table::info;
  none.model_formats = "*";
  EXPECT_TRUE(plan_load(subject, {"anything", ""}, none, 6).ok());
}

TEST(PlanLoad, TakesModelsOfTheZooAndFactoriesOnlyWhereTheRuntimeDoes) {
  imb_runtime_info info = table::info;
  info.model_formats = "tflite,zoo";
  EXPECT_TRUE(plan_load({}, {"/cache/resnet50.onnx", "resnet50"}, info, 6).ok());
  EXPECT_TRUE(plan_load({}, {"NET.TFLite", ""}, info, 6).ok()) << "however the ending is written";
  EXPECT_THAT(plan_load({}, {"/cache/resnet50.onnx", ""}, info, 6).error().message,
              HasSubstr("cannot load 'resnet50.onnx' (it reads tflite, zoo files)"));
  EXPECT_THAT(plan_load({}, {"nets:make", ""}, info, 6).error().message,
              HasSubstr("runs no Python, and 'nets:make' names a Python factory; --backend python does"));
  info.model_formats = "python";
  EXPECT_TRUE(plan_load({}, {"nets:make", ""}, info, 6).ok());
}

// Counts the calls, and lets the second one not stand.
int times_between = 0;
imb_status refuse_the_second(imb_request*, imb_message message) {
  if (++times_between < 2) return IMB_OK;
  std::strcpy(message.text, "the output changed");
  return IMB_RUN_ERROR;
}

TEST(Request, AsksBetweenRunsWhetherWhatTheyLeftMayStand) {
  World here;
  world = &here;
  imb_backend backend = simulated_backend();
  backend.between = refuse_the_second;
  times_between = 0;
  const Runtime runtime = Runtime::open(backend, {}).value();
  const Session session = Session::load(runtime, plan_load({}, {"model.sim", ""}, runtime.info(), 1).value()).value();
  const std::vector<ItemValues> items(1);
  Request request = Request::create(session, items).value();
  EXPECT_TRUE(request.prepare(0));
  EXPECT_EQ(times_between, 0) << "nothing was run yet";
  ASSERT_TRUE(request.run());
  EXPECT_TRUE(request.prepare(1));
  EXPECT_TRUE(request.prepare(2)) << "once for each run";
  EXPECT_EQ(times_between, 1);
  ASSERT_TRUE(request.run());
  EXPECT_FALSE(request.prepare(3));
  EXPECT_EQ(request.error("").message, "the output changed");
  EXPECT_EQ(request.error("").kind, ErrorKind::model);
  backend.struct_size = offsetof(imb_backend, between);
  EXPECT_TRUE(Request::create(session, items).value().prepare(2));
  EXPECT_EQ(times_between, 2);
}

TEST(Request, TellsOfPartsWhereTheTableHasThatSlot) {
  World own;
  world = &own;
  imb_backend backend = simulated_backend();
  backend.parts = table::parts;
  const Runtime runtime = Runtime::open(backend, {}).value();
  const Session session = Session::load(runtime, plan_load({}, {"model.sim", ""}, runtime.info(), 1).value()).value();
  EXPECT_TRUE(session.has_parts());
  const std::vector<ItemValues> items(1);
  EXPECT_EQ(Request::create(session, items).value().parts()->prompt_tokens, 7);
  backend.struct_size = offsetof(imb_backend, parts);  // built before there was that slot
  EXPECT_FALSE(session.has_parts());
  EXPECT_FALSE(Request::create(session, items).value().parts());
}

}  // namespace
}  // namespace infermeter::subject_test
