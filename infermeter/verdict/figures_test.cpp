#include "infermeter/verdict/figures.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace infermeter::figures_test {
namespace {

using testing::Contains;
using testing::Each;
using testing::Field;
using testing::IsEmpty;
using testing::Not;

Samples trial(int subject, double duration, TrialEnd end = TrialEnd::ok) {
  Samples samples;
  samples.subject = subject;
  samples.end = end;
  for (int i = 0; i < 40; ++i) {
    samples.begin_s.push_back(i);
    samples.end_s.push_back(i + duration);
  }
  samples.load_s = 0.25;
  samples.executed = {{"runtime_version", "1.31.1"}};
  return samples;
}

RunRecord two_subjects() {
  RunRecord record;
  record.id = "r";
  record.created_at = 7;
  record.finished = true;
  for (const char* label : {"a", "b"}) {
    Subject subject;
    subject.label = label;
    subject.model = "mlp";
    subject.backend = "fake";
    record.plan.subjects.push_back(subject);
    ModelFacts model;
    model.sha256 = std::string("sha-") + label;
    record.models.push_back(model);
  }
  record.environment.git_commit = "abc";
  record.environment.infermeter_version = "0.1.0";
  record.trials = {trial(0, 0.5), trial(0, 0.5), trial(1, 0.25)};
  return record;
}

std::vector<Figure> figures_of(const RunRecord& record) { return infermeter::figures_of(record, judge(record)); }

TEST(Figures, TimesAndRatesOfGenerationAndOfValidLoadsAreAmongThem) {
  RunRecord record = two_subjects();
  const auto has = [&](std::string_view metric) {
    const auto figures = figures_of(record);
    return std::ranges::any_of(figures, [&](const Figure& figure) { return figure.metric == metric; });
  };
  record.trials[0].counters = {{"ttft_p50", "s", 0.25}, {"output_tokens_mean", "1", 7}, {"achieved_rate", "1/s", 3}};
  EXPECT_TRUE(has("ttft_p50"));
  EXPECT_FALSE(has("output_tokens_mean")) << "no time and no rate";
  EXPECT_FALSE(has("achieved_rate")) << "there was no load";
  record.plan.subjects[0].load = {{"concurrency", "1"}};
  LoadRecord& load = record.trials[0].load.emplace();
  load.completed = load.due = load.issued = 700;
  EXPECT_TRUE(has("achieved_rate"));
  load.failed = 1;
  EXPECT_FALSE(has("achieved_rate") || has("ttft_p50")) << "a load that is not valid shows nothing";
}

TEST(Figures, AreTheValuesOfMetricsPerProcess) {
  const RunRecord record = two_subjects();
  const auto figures = figures_of(record);
  const auto p50 =
      std::ranges::find_if(figures, [](const Figure& f) { return f.subject == 0 && f.metric == "latency_p50"; });
  ASSERT_NE(p50, figures.end());
  EXPECT_DOUBLE_EQ(p50->value, 0.5);
  ASSERT_TRUE(p50->interval);
  EXPECT_EQ(p50->processes, 2);
  EXPECT_EQ(p50->label, "a");
  EXPECT_EQ(p50->series, "mlp@fake");
  EXPECT_EQ(p50->machine, machine_fingerprint(record.environment));
  EXPECT_EQ(p50->runtime_version, "1.31.1");
  EXPECT_EQ(p50->model_sha256, "sha-a");
  EXPECT_EQ(p50->git_commit, "abc");
  EXPECT_EQ(p50->infermeter_version, "0.1.0");
  EXPECT_THAT(figures, Each(Field(&Figure::run, "r")));
  EXPECT_THAT(figures, Contains(Field(&Figure::metric, "load_time")));
  for (const char* pooled : {"latency_std", "latency_min", "latency_max"}) {
    EXPECT_THAT(figures, Not(Contains(Field(&Figure::metric, pooled))));
  }
  // 40 iterations are not enough for it, and memory was not measured.
  for (const char* unknown : {"latency_p99", "memory_peak"}) {
    EXPECT_THAT(figures, Not(Contains(Field(&Figure::metric, unknown))));
  }
}

TEST(Figures, NeedAProcessThatEndedAsPlanned) {
  RunRecord record = two_subjects();
  record.trials = {trial(0, 0.5, TrialEnd::crashed), trial(1, 0.25)};
  EXPECT_THAT(figures_of(record), Each(Field(&Figure::subject, 1)));
  record.trials.clear();
  EXPECT_THAT(figures_of(record), IsEmpty());
}

TEST(Figures, ASeriesIsWhatStaysTheSameOfASubject) {
  Plan plan;
  Subject subject;
  subject.label = "new";
  subject.model = "/somewhere/model.onnx";
  subject.backend = "onnxruntime";
  subject.backend_library = "/opt/libonnxruntime.so.1.31";
  subject.batch_size = 4;
  subject.threads = 2;
  subject.dtype = Precision::bfloat16;
  subject.options = {{"b", "2"}, {"a", "1"}};
  subject.dimensions = {{"width", "8"}, {"height", "4"}};
  EXPECT_EQ(series_of(plan, subject),
            "model.onnx@onnxruntime,batch=4,dtype=bfloat16,threads=2,dim.height=4,dim.width=8,a=1,b=2");
  Subject other = subject;
  other.label = "old";
  other.model = "elsewhere/model.onnx";
  other.backend_library.clear();
  std::ranges::reverse(other.options);
  EXPECT_EQ(series_of(plan, other), series_of(plan, subject));
  Subject live;
  live.model = "live:before/v1";  // and not that of "live:after/v1"
  live.backend = "python";
  EXPECT_EQ(series_of(plan, live), "live:before/v1@python");
}

TEST(Figures, ASeriesKnowsTheProcessorsThatWorkersMayUse) {
  Plan plan;
  plan.cpus = {3, 0};
  Subject subject;
  subject.model = "mlp";
  subject.backend = "fake";
  EXPECT_EQ(series_of(plan, subject), "mlp@fake,cpus=0+3");
}

}  // namespace
}  // namespace infermeter::figures_test
