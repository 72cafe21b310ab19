#include "infermeter/verdict/gate/parse_expectation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace infermeter::expectation_test {
namespace {

using testing::HasSubstr;
using Kind = Expectation::Kind;

ExpectationDraft draft_of(std::string_view text) {
  return {.that = {.text = std::string(text), .file = "gate.toml", .line = 4, .column = 12, .verbatim = true}};
}

Expectation parsed(std::string_view text) {
  const auto result = parse_expectation(draft_of(text));
  EXPECT_TRUE(result) << text << ": " << (result ? "" : result.error().message);
  return result ? *result : Expectation{};
}

std::string error_of(std::string_view text) {
  const auto result = parse_expectation(draft_of(text));
  return result ? "no error" : result.error().message;
}

void expect_parsed(std::string_view text, Kind kind, std::string_view name, Relation relation, double threshold,
                   Dimension dimension) {
  const Expectation found = parsed(text);
  EXPECT_EQ(found.kind, kind) << text;
  EXPECT_EQ(found.name, name) << text;
  EXPECT_EQ(found.relation, relation) << text;
  EXPECT_EQ(found.threshold, threshold) << text;  // exactly: 12 ms is the double that 0.012 is
  EXPECT_EQ(found.dimension, dimension) << text;
}

TEST(Expectation, NamesFiguresWithTheirUnits) {
  const auto le = Relation::less_or_equal;
  expect_parsed("latency_p50_ms <= 12", Kind::metric, "latency_p50", le, 0.012, Dimension::seconds);
  expect_parsed("latency_p99_us<250.5", Kind::metric, "latency_p99", Relation::less, 0.0002505, Dimension::seconds);
  expect_parsed("latency_p90 <= 12ms", Kind::metric, "latency_p90", le, 0.012, Dimension::seconds);
  expect_parsed("latency_p95_ms <= 0.02 s", Kind::metric, "latency_p95", le, 0.02, Dimension::seconds);
  expect_parsed("latency_max_s <= 1", Kind::metric, "latency_max", le, 1, Dimension::seconds);
  expect_parsed("throughput_ips > 100", Kind::metric, "throughput", Relation::greater, 100, Dimension::per_second);
  expect_parsed("throughput >= 1e3/s", Kind::metric, "throughput", Relation::greater_or_equal, 1000,
                Dimension::per_second);
  expect_parsed("peak_memory_mb < 2048", Kind::metric, "memory_peak", Relation::less, 2048e6, Dimension::bytes);
  expect_parsed("memory_mb < 2GiB", Kind::metric, "memory_peak", Relation::less, 2147483648.0, Dimension::bytes);
  expect_parsed("memory_load_mb <= 1", Kind::memory_after_load, "memory_load_mb", le, 1e6, Dimension::bytes);
  expect_parsed("compilation_time_ms <= 1", Kind::metric, "compile_time", le, 0.001, Dimension::seconds);
  expect_parsed("first_inference_ms <= 1", Kind::metric, "first_inference_time", le, 0.001, Dimension::seconds);
  expect_parsed("model_size_mb <= 102.4", Kind::model_size, "model_size_mb", le, 102.4e6, Dimension::bytes);
  expect_parsed("parameters == 25557032", Kind::parameters, "parameters", Relation::equal, 25557032, Dimension::number);
  expect_parsed("max_absolute_difference <= 1e-4", Kind::output_figure, "max_absolute_difference", le, 1e-4,
                Dimension::number);
  expect_parsed("outputs_mae <= 1e-4", Kind::output_figure, "mae", le, 1e-4, Dimension::number);
  expect_parsed("psnr_db >= 40", Kind::output_figure, "psnr", Relation::greater_or_equal, 40, Dimension::decibels);
  expect_parsed("psnr >= 40 dB", Kind::output_figure, "psnr", Relation::greater_or_equal, 40, Dimension::decibels);
  expect_parsed("ssim > 0.99", Kind::output_figure, "ssim", Relation::greater, 0.99, Dimension::number);
  expect_parsed("top1_agreement \u2265 99%", Kind::output_figure, "top1_agreement", Relation::greater_or_equal, 0.99,
                Dimension::share);
  expect_parsed("accuracy >= 76%", Kind::accuracy_figure, "accuracy", Relation::greater_or_equal, 0.76,
                Dimension::share);
  expect_parsed("accuracy_top5 >= 0.9", Kind::accuracy_figure, "top5_accuracy", Relation::greater_or_equal, 0.9,
                Dimension::share);
  expect_parsed("nonzero_parameters <= 5e6", Kind::nonzero_parameters, "nonzero_parameters", le, 5e6,
                Dimension::number);
  expect_parsed("size_reduction >= 3.5x", Kind::size_reduction, "size_reduction", Relation::greater_or_equal, 3.5,
                Dimension::factor);
  expect_parsed("memory_reduction >= 1.2", Kind::speedup, "memory_peak", Relation::greater_or_equal, 1.2,
                Dimension::factor);
  expect_parsed("psnr_difference_db < 1", Kind::psnr_difference, "psnr_difference_db", Relation::less, 1,
                Dimension::decibels);
  expect_parsed("perplexity_increase <= 0.5%", Kind::perplexity_increase, "perplexity_increase", le, 0.005,
                Dimension::share);
  expect_parsed("accuracy_drop <= 0.01", Kind::accuracy_drop, "accuracy_drop", le, 0.01, Dimension::share);
}

TEST(Expectation, SpeaksOfSpeedupsAndRegressions) {
  const auto ge = Relation::greater_or_equal, le = Relation::less_or_equal;
  expect_parsed("speedup >= 3", Kind::speedup, "latency_p50", ge, 3, Dimension::factor);
  expect_parsed("speedup(throughput) >= 1.5x", Kind::speedup, "throughput", ge, 1.5, Dimension::factor);
  expect_parsed("regression <= 10%", Kind::regression, "latency_p50", le, 0.1, Dimension::share);
  expect_parsed("regression(peak_memory) < 5 %", Kind::regression, "memory_peak", Relation::less, 0.05,
                Dimension::share);
  expect_parsed("regression(p99) <= -5%", Kind::regression, "latency_p99", le, -0.05, Dimension::share);
  const Expectation margin = parsed("no regression(mean) beyond 2%");
  EXPECT_EQ(margin.kind, Kind::no_regression);
  EXPECT_EQ(margin.name, "latency_mean");
  EXPECT_EQ(margin.threshold, 0.02);
}

TEST(Expectation, SpeaksOfWholeRuns) {
  EXPECT_EQ(parsed("outputs agree").kind, Kind::outputs_agree);
  EXPECT_EQ(parsed("outputs repeat").kind, Kind::outputs_repeat);
  EXPECT_EQ(parsed("  no  leak ").kind, Kind::no_leak);
  const Expectation reproducible = parsed("reproducible over 3 runs within 2%");
  EXPECT_EQ(reproducible.kind, Kind::reproducible);
  EXPECT_EQ(reproducible.runs, 3);
  EXPECT_EQ(reproducible.threshold, 0.02);
  EXPECT_EQ(reproducible.name, "latency_p50");
}

TEST(Expectation, TakesOtherNamesForCounters) {
  const auto ge = Relation::greater_or_equal;
  expect_parsed("hit_rate >= 0.8", Kind::counter, "hit_rate", ge, 0.8, Dimension::number);
  expect_parsed("hit_rate >= 80%", Kind::counter, "hit_rate", ge, 0.8, Dimension::number);
  expect_parsed("counter(load_times) >= -3", Kind::counter, "load_times", ge, -3, Dimension::number);
  expect_parsed("difference(psnr_db) < 1", Kind::counter_difference, "psnr_db", Relation::less, 1, Dimension::number);
  expect_parsed("counter(of blanks) == 3", Kind::counter, "of blanks", Relation::equal, 3, Dimension::number);
}

TEST(Expectation, KnowsWhatComparesAndWhatHasABound) {
  EXPECT_TRUE(parsed("speedup >= 3").compares());
  EXPECT_TRUE(parsed("outputs agree").compares());
  for (const char* text : {"accuracy_drop <= 1%", "size_reduction >= 2", "memory_reduction >= 2", "rmse <= 1"}) {
    EXPECT_TRUE(parsed(text).compares()) << text;
  }
  EXPECT_FALSE(parsed("accuracy >= 70%").compares());
  EXPECT_FALSE(parsed("nonzero_parameters <= 10").compares());
  EXPECT_FALSE(parsed("regression <= 10%").compares());  // a baseline run has the first subject as well
  EXPECT_FALSE(parsed("latency_p50_ms <= 12").compares());
  EXPECT_TRUE(parsed("latency_p50_ms <= 12").has_bound());
  EXPECT_FALSE(parsed("no regression beyond 2%").has_bound());
}

struct Wrong {
  std::string_view text, message;
};

TEST(Expectation, PointsAtWhatItCannotRead) {
  const std::vector<Wrong> wrongs = {
      {"", "gate.toml:4:12: an expectation begins with a figure"},
      {"12 >= latency_p50_ms", "gate.toml:4:12: an expectation begins with a figure"},
      {"latency_p9_ms <= 12", "gate.toml:4:12: unknown figure 'latency_p9_ms' (did you mean 'latency_p90_ms'?"},
      {"latency_99_ms <= 12", "(did you mean 'latency_p99_ms'?"},
      {"Latency_P50_ms <= 12", "(did you mean 'latency_p50_ms'?"},
      {"speed_up >= 3", "unknown figure 'speed_up' (did you mean 'speedup'?"},
      {"output agree", "unknown figure 'output' (did you mean 'outputs'?"},
      {"outputs agre", "gate.toml:4:20: here comes 'agree' or 'repeat', got 'agre' (did you mean 'agree'?)"},
      {"outputs", "gate.toml:4:19: here comes 'agree' or 'repeat', got nothing"},
      {"difference() < 1", "difference() needs a counter's name"},
      {"no regresion beyond 2%", "gate.toml:4:15: here comes 'regression' or 'leak', got 'regresion' (did you mean"},
      {"no regression within 2%", "gate.toml:4:26: here comes 'beyond', got 'within'"},
      {"no regression beyond 2", "gate.toml:4:34: a margin takes a percentage: write 2%"},
      {"no regression beyond 0%", "gate.toml:4:33: a margin is above 0 %"},
      {"reproducible over 1 runs within 2%", "gate.toml:4:30: expected a number of runs from 2 to 100, got '1'"},
      {"reproducible over many runs within 2%", "got 'many'"},
      {"reproducible over 3 times within 2%", "gate.toml:4:32: here comes 'runs', got 'times'"},
      {"reproducible over 3 runs within 2ms", "gate.toml:4:45: a margin takes %, not 'ms'"},
      {"latency_p50_ms", "gate.toml:4:26: here comes <=, <, >=, > or ==, got nothing"},
      {"latency_p50_ms is 12", "gate.toml:4:27: here comes <=, <, >=, > or ==, got 'is 12'"},
      {"latency_p50_ms =< 12", "gate.toml:4:27: '=<' is not a comparison (did you mean '<='?)"},
      {"latency_p50_ms = 12", "'=' is not a comparison (did you mean '=='?)"},
      {"latency_p50_ms <= ", "gate.toml:4:30: expected a number, got nothing"},
      {"latency_p50_ms <= fast", "gate.toml:4:30: expected a number, got 'fast'"},
      {"latency_p50_ms <= nan", "gate.toml:4:30: a threshold is a finite number, got 'nan'"},
      {"latency_p50_ms <= inf", "a threshold is a finite number, got 'inf'"},
      {"latency_p50_ms <= 1e999", "a threshold is a finite number, got '1e999'"},
      {"latency_p50_ms <= -1", "gate.toml:4:30: latency_p50_ms is never negative"},
      {"latency_p50_ms <= 12%", "gate.toml:4:32: latency_p50_ms takes ms, us, \u00b5s, ns or s, not '%'"},
      {"latency_p50_ms <= 12 MB", "gate.toml:4:33: latency_p50_ms takes ms"},
      {"latency_p50 <= 12", "latency_p50 needs a unit: latency_p50 <= 12ms, or latency_p50_ms <= 12"},
      {"peak_memory <= 12", "peak_memory needs a unit: peak_memory <= 12MB, or peak_memory_mb <= 12"},
      {"latency_p50_ms <= 12 ms or so", "gate.toml:4:36: 'or so' is too much here"},
      {"parameters <= 3ms", "parameters takes a number without a unit, not 'ms'"},
      {"speedup >= 10%", "gate.toml:4:25: speedup takes x, not '%'"},
      {"speedup(memory_peak) >= 2",
       "speedup is of times and of throughput; of memory there are memory_reduction and regression(peak_memory)"},
      {"sim >= 0.9", "unknown figure 'sim' (did you mean 'ssim'?"},
      {"psnr >= 40 ms", "psnr takes dB, not 'ms'"},
      {"size_reduction >= 70%", "size_reduction takes x, not '%'"},
      {"acuracy >= 0.9", "unknown figure 'acuracy' (did you mean 'accuracy'?"},
      {"speedup(p5) >= 2", "gate.toml:4:20: there is no metric 'p5' (did you mean 'p50'?)"},
      {"regression(throughput <= 2%", "gate.toml:4:22: this bracket is not closed"},
      {"regression <= 10", "gate.toml:4:28: regression takes a percentage: write 10%"},
      {"regression <= 10x", "regression takes %, not 'x'"},
      {"regression >= 10%", "gate.toml:4:23: regression takes <= or <"},
      {"hit_rate >= 5 MB", "gate.toml:4:26: a counter takes a number or %, not 'MB'"},
      {"load_tome >= 5", "unknown figure 'load_tome' (did you mean 'load_time_ms'? a counter of that name is written"},
      {"counter() >= 5", "counter() needs a name"},
      {"counter(x >= 5", "gate.toml:4:19: this bracket is not closed"},
      {"latency_std_ms <= 5", "latency_std has no interval"},
  };
  for (const Wrong& wrong : wrongs) EXPECT_THAT(error_of(wrong.text), HasSubstr(wrong.message)) << wrong.text;
}

TEST(Expectation, SurvivesAnyBytes) {
  std::string text = "latency_p50_ms <= 12";
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int byte = 0; byte < 256; byte += 3) {
      std::string broken = text;
      broken[i] = static_cast<char>(byte);
      const auto result = parse_expectation(draft_of(broken));
      if (!result) {
        EXPECT_THAT(result.error().message, HasSubstr("gate.toml:4:"));
      }
    }
  }
}

}  // namespace
}  // namespace infermeter::expectation_test
