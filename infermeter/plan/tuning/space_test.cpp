#include "infermeter/plan/tuning/space.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infermeter/plan/plan_file.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/plan/tuning/setting_file.hpp"

namespace infermeter::tuning_space_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Texts = std::vector<std::string>;

const std::vector<TunableBackend> two_backends = {
    {.name = "ort", .options = {{"graph", "none|all"}, {"spin", "true|false"}, {"inter", "N"}}},
    {.name = "ov", .options = {{"streams", "N"}, {"hint", "latency|throughput"}, {"graph", "all|more"}}}};

Result<TuningSpace> space_of(const Texts& texts, std::uint64_t seed = 1) {
  auto keys = tuned_keys(texts);
  if (!keys.ok()) return keys.error();
  return combinations({.model = "mlp"}, *keys, two_backends, seed);
}

std::string error_of(const Texts& texts) {
  const auto space = space_of(texts);
  return space.ok() ? "no error" : space.error().message;
}

Texts forms(const TuningSpace& space) {
  PlanDraft draft;
  draft.subjects = space.settings;
  const auto plan = make_plan(draft);
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().message);
  Texts found;
  for (const Subject& subject : plan->subjects) found.push_back(short_form(subject));
  return found;
}

TEST(TuningSpace, HasEveryCombinationTheFirstValuesFirst) {
  EXPECT_THAT(forms(*space_of({"backend=ort,ov", "threads=1,2"})),
              ElementsAre("mlp@ort,threads=1", "mlp@ort,threads=2", "mlp@ov,threads=1", "mlp@ov,threads=2"));
}

TEST(TuningSpace, TakesTheInt8FormOfEachModelAndBackEnd) {
  std::vector<TunableBackend> backends = two_backends;
  backends[0].int8 = {{"mlp", {.model = "small.onnx"}}, {"big", {.options = {{"spin", "true"}}}}};
  backends[1].int8 = {{"mlp", {.refusal = "NNCF is not installed"}}};
  const auto keys = tuned_keys(Texts{"backend=ort,ov", "model=mlp,big", "dtype=float32,int8"});
  ASSERT_TRUE(wants_int8(*keys));
  const auto space = combinations({}, *keys, backends, 1);
  ASSERT_TRUE(space.ok()) << space.error().message;
  EXPECT_THAT(space->settings, SizeIs(6));
  EXPECT_EQ(space->settings[1].model, "small.onnx");
  EXPECT_FALSE(space->settings[1].dtype.has_value());
  EXPECT_THAT(space->settings[3].options, ElementsAre(testing::Pair("spin", "true")));
  EXPECT_THAT(space->left_out, ElementsAre(testing::Pair("mlp@ov,dtype=int8", "NNCF is not installed"),
                                           testing::Pair("big@ov,dtype=int8", "its model has no int8 form")));
  EXPECT_FALSE(wants_int8(*tuned_keys(Texts{"dtype=float32,float16", "graph=int8"})));
}

TEST(TuningSpace, GivesAnOptionToTheBackEndsThatHaveIt) {
  EXPECT_THAT(forms(*space_of({"backend=ort,ov", "streams=1,2"})),
              ElementsAre("mlp@ort", "mlp@ov,streams=1", "mlp@ov,streams=2"));
  const auto space = space_of({"backend=ort,ov", "graph=all,none"});
  EXPECT_THAT(forms(*space), ElementsAre("mlp@ort,graph=all", "mlp@ort,graph=none", "mlp@ov,graph=all"));
  ASSERT_THAT(space->left_out, SizeIs(1));
  EXPECT_EQ(space->left_out[0].first, "mlp@ov,graph=none");
  EXPECT_THAT(space->left_out[0].second, HasSubstr("back end ov has no graph=none; it has all|more"));
}

TEST(TuningSpace, RefusesWhatNobodyKnowsWithWhatWasMeant) {
  EXPECT_THAT(error_of({"backend=ort", "treads=1,2"}), HasSubstr("did you mean 'threads'"));
  EXPECT_THAT(error_of({"backend=ort,ov", "stream=1"}), HasSubstr("did you mean 'streams'"));
  EXPECT_THAT(error_of({"backend=ov", "hint=latancy,throughput"}), HasSubstr("did you mean 'latency'"));
  EXPECT_THAT(error_of({"backend=ort", "threads=1,1"}), HasSubstr("the value 1 is given twice"));
  EXPECT_THAT(error_of({"backend=ort", "threads=1", "threads=2"}), HasSubstr("threads is given twice"));
  EXPECT_THAT(error_of({"threads"}), HasSubstr("expected KEY=VALUE,VALUE"));
  EXPECT_THAT(error_of({"threads=1,,2"}), HasSubstr("a value is empty"));
  EXPECT_THAT(error_of({"backend=ort", "threads=one"}), HasSubstr("--over: threads: "));
}

TEST(TuningSpace, GroupsSettingsWithTheSameInputs) {
  const auto space = space_of({"backend=ort,ov", "batch_size=1,4"});
  std::vector<int> groups;
  for (const SubjectDraft& setting : space->settings) groups.push_back(*setting.group);
  EXPECT_THAT(groups, ElementsAre(0, 1, 0, 1));
}

TEST(TuningSpace, DrawsSixtyOfMoreBySeed) {
  std::string many = "inter=1";
  for (int i = 2; i <= 100; ++i) many += "," + std::to_string(i);
  const Texts texts = {"backend=ort", many, "threads=1,2"};
  const auto space = space_of(texts);
  EXPECT_THAT(space->settings, SizeIs(60));
  EXPECT_EQ(space->all, 200U);
  EXPECT_EQ(forms(*space).front(), "mlp@ort,threads=1,inter=1");
  EXPECT_EQ(forms(*space), forms(*space_of(texts)));
  EXPECT_NE(forms(*space), forms(*space_of(texts, 2)));
  const Texts drawn = forms(*space);
  EXPECT_THAT(std::set<std::string>(drawn.begin(), drawn.end()), SizeIs(60));
  EXPECT_THAT(error_of({"backend=ort", many, "threads=" + many.substr(6), "batch=1,2,3"}), HasSubstr("(--over)"));
}

TEST(TuningSpace, ChangesOneThingAtATimeWhereNothingIsNamed) {
  const TuningSpace space = single_changes({.model = "mlp"}, std::span(two_backends).first(1), 3);
  EXPECT_THAT(forms(space), ElementsAre("mlp@ort", "mlp@ort,threads=1", "mlp@ort,threads=2", "mlp@ort,graph=none",
                                        "mlp@ort,graph=all", "mlp@ort,spin=true", "mlp@ort,spin=false"));
}

TEST(TuningSpace, OfMoreThanSixtyChangesEachBackEndHasItsShare) {
  std::string many = "1";
  for (int i = 2; i <= 50; ++i) many += "|v" + std::to_string(i);
  const std::vector<TunableBackend> backends = {{.name = "a", .options = {{"x", many}}},
                                                {.name = "b", .options = {{"x", "on|off"}}},
                                                {.name = "c", .options = {{"x", many}}}};
  const TuningSpace space = single_changes({.model = "mlp"}, backends, 1);
  EXPECT_EQ(space.all, 105U);
  EXPECT_THAT(space.settings, SizeIs(60));
  const Texts drawn = forms(space);
  const auto of = [&](const std::string& backend) {
    return std::ranges::count_if(drawn, [&](const auto& text) { return text.starts_with("mlp@" + backend); });
  };
  EXPECT_EQ(of("b"), 3) << "all that it has";
  EXPECT_LE(std::abs(of("a") - of("c")), 1);
  EXPECT_EQ(drawn.front(), "mlp@a") << "in their order, the default first";
}

TEST(ClosedList, IsWhatHasWordsOnly) {
  EXPECT_THAT(closed_list("none|basic|all"), ElementsAre("none", "basic", "all"));
  EXPECT_THAT(closed_list("N"), IsEmpty());
  EXPECT_THAT(closed_list("none|constant:T"), IsEmpty());
  EXPECT_THAT(closed_list(""), IsEmpty());
}

TEST(TunedKeys, RangesAreTheirNumbers) {
  const Texts texts = {"threads=1..3,8", "model=a..b.onnx,../c.onnx"};
  const auto keys = tuned_keys(texts);
  ASSERT_TRUE(keys.ok()) << keys.error().message;
  EXPECT_THAT(keys->at(0).values, ElementsAre("1", "2", "3", "8"));
  EXPECT_THAT(keys->at(1).values, ElementsAre("a..b.onnx", "../c.onnx"));
  EXPECT_THAT(error_of({"threads=4..1"}), testing::HasSubstr("the range 4..1 ends below its beginning"));
  EXPECT_THAT(error_of({"threads=1..61"}), testing::HasSubstr("more than 60 numbers"));
  EXPECT_THAT(error_of({"threads=1..3,2"}), testing::HasSubstr("the value 2 is given twice"));
}

TEST(TuningSpace, LoadsAreSettingsToo) {
  const auto space = space_of({"backend=ort", "load.concurrency=1,2", "load.samples=1"});
  ASSERT_TRUE(space.ok()) << space.error().message;
  ASSERT_THAT(space->settings, SizeIs(2));
  EXPECT_THAT(space->settings[1].load, ElementsAre(testing::Pair("concurrency", "2"), testing::Pair("samples", "1")));
}

TEST(SettingFile, IsReadAgainAsTheSameSubject) {
  Plan plan;
  Subject subject{.model = "a \"b\"\n.onnx", .backend = "ort", .dtype = Precision::bfloat16, .batch_size = 4};
  subject.threads = 2;
  subject.options = {{"graph", "all"}};
  subject.load = {{"rate", "40"}, {"scenario", "server"}};
  subject.dimensions = {{"height", "512"}};
  subject.batch_axes = {{"", "none"}};
  subject.environment = {{"OMP_WAIT_POLICY", "active"}, {"LD_PRELOAD", "/x.so"}};
  plan.subjects = {Subject{}, subject};
  plan.data.seed = 7;
  plan.cpus = {0, 1};
  const std::string file = setting_file(plan, 1);
  EXPECT_THAT(file, testing::HasSubstr("# It was measured with --env LD_PRELOAD=…"));
  EXPECT_THAT(file, testing::Not(testing::HasSubstr("/x.so")));
  const auto read = plan_from_toml(file, "best.toml", {});
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_THAT(read->subjects, SizeIs(1));
  subject.environment.pop_back();
  EXPECT_EQ(short_form(read->subjects[0]), short_form(subject));
  EXPECT_EQ(read->data.seed, 7U);
  EXPECT_THAT(read->cpus, ElementsAre(0, 1));
}

}  // namespace
}  // namespace infermeter::tuning_space_test
