#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "infermeter/plan/plan.hpp"

namespace infermeter::check_plan_test {
namespace {

using testing::HasSubstr;

Plan good() {
  return {.subjects = {{.label = "a", .model = "mlp", .backend = "fake"},
                       {.label = "b", .model = "mlp", .backend = "fake"}}};
}

std::string complaint(const std::function<void(Plan&)>& spoil) {
  Plan plan = good();
  spoil(plan);
  const auto checked = check_plan(plan);
  return checked ? "none" : checked.error().message;
}

TEST(CheckPlan, PassesWhatIsRight) {
  EXPECT_EQ(complaint([](Plan&) {}), "none");
  EXPECT_EQ(complaint([](Plan& p) { p.stopping = {.warmup = 0, .iterations = {}, .duration_s = 0.1}; }), "none");
}

TEST(CheckPlan, SaysWhatIsWrongWithTheSubjects) {
  EXPECT_THAT(complaint([](Plan& p) { p.subjects.clear(); }), HasSubstr("nothing to measure"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects[1].label = "a"; }), HasSubstr("two subjects have the label 'a'"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects[1].label = ""; }), HasSubstr("subject 2: the label is empty"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects[0].model = ""; }), HasSubstr("subject 'a': the model is empty"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects[0].backend = ""; }), HasSubstr("the back end is empty"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects[0].model = "\xff"; }), HasSubstr("the model is not valid UTF-8"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects[0].model = std::string("a\0b", 3); }), HasSubstr("holds a NUL"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects[0].batch_size = 0; }), HasSubstr("the batch size is 0"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects[0].threads = -1; }), HasSubstr("-1 threads"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects[0].dimensions = {{"h", "0"}}; }), HasSubstr("dimension h: expected"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects[0].dimensions = {{"h", "1"}, {"h", "2"}}; }),
              HasSubstr("given twice"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects[0].options = {{"", "1"}}; }), HasSubstr("name of option is empty"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects[0].environment = {{"HOME", "/x"}}; }), HasSubstr("infermeter's own"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects[0].environment = {{"A=B", "/x"}}; }), HasSubstr("cannot be called"));
  EXPECT_THAT(complaint([](Plan& p) { p.subjects.resize(10'001); }), HasSubstr("more than the 10000"));
}

TEST(CheckPlan, SaysWhatIsWrongWithTheRest) {
  EXPECT_THAT(complaint([](Plan& p) { p.processes = 0; }), HasSubstr("--processes"));
  EXPECT_THAT(complaint([](Plan& p) { p.stopping.warmup = -1; }), HasSubstr("--warmup"));
  EXPECT_THAT(complaint([](Plan& p) { p.stopping.count_first = true; }),
              HasSubstr("10 warm-up iterations, and the first"));
  EXPECT_THAT(complaint([](Plan& p) { p.stopping.iterations = 0; }), HasSubstr("0 iterations cannot be"));
  EXPECT_THAT(complaint([](Plan& p) { p.stopping.iterations.reset(); }), HasSubstr("exactly one"));
  EXPECT_THAT(complaint([](Plan& p) { p.stopping.duration_s = 1; }), HasSubstr("exactly one"));
  EXPECT_THAT(complaint([](Plan& p) { p.stopping = {.iterations = {}, .duration_s = -1}; }), HasSubstr("--duration"));
  EXPECT_THAT(complaint([](Plan& p) { p.limits.load_timeout_s = 0; }), HasSubstr("--load-timeout"));
  EXPECT_THAT(complaint([](Plan& p) { p.limits.run_timeout_s = std::numeric_limits<double>::quiet_NaN(); }),
              HasSubstr("--run-timeout"));
  EXPECT_THAT(complaint([](Plan& p) { p.data.source = ""; }), HasSubstr("--data"));
  EXPECT_THAT(complaint([](Plan& p) { p.data.limit = -1; }), HasSubstr("--data-limit"));
  EXPECT_THAT(complaint([](Plan& p) { p.data.distributions = {{"x", ""}}; }), HasSubstr("distribution of input 'x'"));
  EXPECT_THAT(complaint([](Plan& p) { p.cpus = {-1}; }), HasSubstr("--cpus"));
  EXPECT_THAT(complaint([](Plan& p) { p.outliers = {OutlierRule::Kind::iqr, 0}; }), HasSubstr("--outliers"));
  EXPECT_THAT(complaint([](Plan& p) { p.output_dir = ""; }), HasSubstr("--output-dir"));
  EXPECT_THAT(complaint([](Plan& p) { p.order = {{.subject = 2}}; }),
              HasSubstr("subject 3, which the plan does not have"));
}

TEST(Names, AreReadAndRefused) {
  EXPECT_EQ(*precision_from_string("float16"), Precision::float16);
  EXPECT_THAT(precision_from_string("bfloat61").error().message, HasSubstr("did you mean 'bfloat16'?"));
  EXPECT_EQ(*sandbox_from_string("auto"), Sandbox::automatic);
  EXPECT_THAT(sandbox_from_string("strikt").error().message,
              HasSubstr("unknown sandbox 'strikt' (did you mean 'strict'?)"));
}

TEST(OutlierRules, AreReadWithTheirUsualFactor) {
  EXPECT_EQ(to_string(*outlier_rule_from_string("none")), "none");
  EXPECT_EQ(to_string(*outlier_rule_from_string("iqr")), "iqr:1.5");
  EXPECT_EQ(to_string(*outlier_rule_from_string("sigma:2.5")), "sigma:2.5");
  EXPECT_EQ(outlier_rule_from_string("mad")->factor, 3.5);
  for (const char* text : {"iqr:", "iqr:0", "iqr:-1", "iqr:nan", "iqr:1x", "none:1"}) {
    EXPECT_THAT(outlier_rule_from_string(text).error().message, HasSubstr("expected an outlier rule such as")) << text;
  }
  EXPECT_THAT(outlier_rule_from_string("sgima:3").error().message, HasSubstr("did you mean 'sigma'?"));
}

}  // namespace
}  // namespace infermeter::check_plan_test
