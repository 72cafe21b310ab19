#include "infermeter/report/gate/report.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "infermeter/report/exchange/exchange.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/test_golden.hpp"
#include "infermeter/report/test_records.hpp"
#include "infermeter/text/terminal.hpp"
#include "infermeter/verdict/gate/parse_expectation.hpp"

namespace infermeter::gate_report_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

void expect_golden(const std::string& name, const std::string& text) { test::expect_golden("gate/" + name, text); }

Gate gate_of(const std::vector<std::string>& expectations) {
  Gate gate{.name = "gate.toml", .expectations = {}, .fail_inconclusive = false};
  for (const std::string& text : expectations) {
    auto expectation = parse_expectation({.that = {.text = text, .file = "gate.toml", .line = 1, .column = 1}});
    EXPECT_TRUE(expectation) << text;
    if (expectation) gate.expectations.push_back(std::move(*expectation));
  }
  return gate;
}

ExpectationVerdict verdict_of(std::size_t expectation, int subject, Outcome outcome, std::string reason) {
  ExpectationVerdict verdict;
  verdict.expectation = expectation;
  verdict.subject = subject;
  verdict.outcome = outcome;
  verdict.reason = std::move(reason);
  return verdict;
}

ExpectationVerdict measured(ExpectationVerdict verdict, double value, double low, double high, std::int64_t n,
                            std::string n_of, int processes) {
  verdict.value = value;
  verdict.interval = Interval{low, high};
  verdict.n = n;
  verdict.n_of = std::move(n_of);
  verdict.processes = processes;
  return verdict;
}

struct Example {
  RunRecord record = test::example_record();
  Gate gate = gate_of({"latency_p50_ms <= 40", "speedup >= 3", "latency_p99_ms <= 50", "model_size_mb <= 200",
                       "regression(throughput) <= 10%", "outputs agree", "no leak"});
  GateVerdict verdict;

  Example() {
    const std::string within = "the whole interval keeps within the bound";
    auto& all = verdict.verdicts;
    all.push_back(measured(verdict_of(0, 0, Outcome::pass, within), 0.0382, 0.0378, 0.0386, 300, "iterations", 3));
    all.push_back(measured(verdict_of(0, 1, Outcome::pass, within), 0.0353, 0.0349, 0.0357, 300, "iterations", 3));
    all.push_back(measured(verdict_of(1, 1, Outcome::fail, "the whole interval violates the bound"), 1.08, 1.05, 1.11,
                           600, "iterations", 6));
    all.back().notes = {"executed in bfloat16, but float32 for 'resnet50@onnxruntime'"};
    all.push_back(verdict_of(2, 1, Outcome::inconclusive, "needs 299 iterations (--iterations)"));
    all.back().n = 60, all.back().n_of = "iterations", all.back().processes = 3;
    all.push_back(verdict_of(3, 1, Outcome::pass, "the figure is exact, and within the bound"));
    all.back().value = 102.4e6, all.back().exact = true;
    all.push_back(
        measured(verdict_of(4, 1, Outcome::inconclusive,
                            "the interval includes the bound; about 12 processes would settle it (--processes 12)"),
                 0.0873, 0.0751, 0.1204, 6, "processes", 6));
    all.push_back(verdict_of(5, 3, Outcome::fail, "output 'logits': 12 of 1000 elements are beyond tolerance"));
    all.back().n = 1, all.back().n_of = "items", all.back().processes = 2;
    all.push_back(verdict_of(0, 4, Outcome::fail, "crashed by signal 11 in phase timed"));
    all.push_back(measured(verdict_of(6, 0, Outcome::pass, "the slope's interval holds 0"), 3.25, -40, 46.5, 2000,
                           "iterations", 1));
    verdict.passed = 4, verdict.failed = 3, verdict.inconclusive = 2, verdict.exit_code = 4;
    verdict.baseline_name = "nightly", verdict.baseline_run = "20261120-020000-77aa";
    record.environment.hostname = "build-7";
  }

  [[nodiscard]] std::string render(Format format, RenderOptions options = {}) const {
    return render_gate(record, gate, verdict, format, options);
  }
};

TEST(GateReport, LooksAsApproved) {
  const Example example;
  expect_golden("gate_80.txt", example.render(Format::table, {.width = 80}));
  expect_golden("gate_120.txt", example.render(Format::table, {.width = 120}));
  expect_golden("gate_color.txt", example.render(Format::table, {.color = true}));
  expect_golden("gate.md", example.render(Format::markdown));
  expect_golden("gate.json", example.render(Format::json));
  expect_golden("gate.xml", render_junit(example.record, example.gate, example.verdict));
  expect_golden("gate.sarif", render_sarif(example.record, example.gate, example.verdict));
  expect_golden("gate_annotations.txt", render_github(example.record, example.gate, example.verdict));
}

TEST(GateReport, FitsTheTerminal) {
  const Example example;
  for (const std::size_t width : {60U, 80U, 100U, 160U}) {
    std::stringstream lines(example.render(Format::table, {.width = width}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width) << line;
  }
}

// Names as an enemy would choose them, in every place where text from outside can come in.
Example hostile() {
  Example example;
  example.record = test::hostile_record();
  example.verdict.verdicts.clear();
  example.verdict.passed = example.verdict.failed = example.verdict.inconclusive = 5;
  example.gate.name = test::hostile_names()[0];
  for (std::size_t i = 0; i < test::hostile_names().size(); ++i) {
    const std::string name = test::hostile_names()[i].substr(0, 1000);
    Expectation expectation;
    expectation.source.text = name;
    example.gate.expectations.push_back(expectation);
    ExpectationVerdict verdict =
        verdict_of(example.gate.expectations.size() - 1, static_cast<int>(i), static_cast<Outcome>(i % 3), name);
    verdict.n = 1, verdict.n_of = "processes";
    verdict.notes = {name};
    example.verdict.verdicts.push_back(verdict);
  }
  example.verdict.baseline_name = example.verdict.baseline_run = test::hostile_names()[1];
  example.record.environment.hostname = test::hostile_names()[0];
  return example;
}

TEST(GateReport, SurvivesHostileNames) {
  const Example example = hostile();
  expect_golden("hostile.xml", render_junit(example.record, example.gate, example.verdict));
  EXPECT_FALSE(nlohmann::json::parse(render_sarif(example.record, example.gate, example.verdict), nullptr, false)
                   .is_discarded());
  // A command for each verdict that is no pass, and the counts: no name begins a line of its own.
  std::stringstream lines(render_github(example.record, example.gate, example.verdict));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_THAT(line, testing::MatchesRegex("::(error|warning|notice) .*"));
    EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  }
  const auto& verdicts = example.verdict.verdicts;
  EXPECT_EQ(count, std::ranges::count_if(verdicts, [](const auto& one) { return one.outcome != Outcome::pass; }) + 1);
  for (const Format format : {Format::table, Format::markdown}) {
    const std::string text = example.render(format);
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
  }
  EXPECT_THAT(example.render(Format::markdown), Not(HasSubstr("<svg")));
  EXPECT_FALSE(nlohmann::json::parse(example.render(Format::json), nullptr, false).is_discarded());
}

TEST(GateReport, AGateOfOneLineIsStillWhole) {
  const RunRecord record{.id = "20261121-114200-0000", .finished = false};
  const std::string text = render_gate(record, gate_of({"no leak"}), {}, Format::table, {});
  EXPECT_THAT(text, HasSubstr("not finished"));
  RunRecord finished = record;
  finished.finished = true;
  EXPECT_THAT(render_junit(finished, gate_of({"no leak"}), {}), HasSubstr("tests=\"0\" failures=\"0\" errors=\"0\""));
}

TEST(GateReport, OfAnInterruptedRunSaysSoInEveryForm) {
  Example example;
  example.record.finished = false;
  EXPECT_THAT(render_junit(example.record, example.gate, example.verdict),
              AllOf(HasSubstr("errors=\"1\""), HasSubstr("<error type=\"interrupted\" message=\"not finished: ")));
  const auto sarif = nlohmann::json::parse(render_sarif(example.record, example.gate, example.verdict));
  const auto& invocation = sarif["runs"][0]["invocations"][0];
  EXPECT_EQ(invocation["executionSuccessful"], false);
  EXPECT_THAT(invocation["toolExecutionNotifications"][0]["message"]["text"].get<std::string>(),
              HasSubstr("not finished"));
  EXPECT_THAT(render_github(example.record, example.gate, example.verdict),
              StartsWith("::warning title=infermeter gate::not finished: "));
}

}  // namespace
}  // namespace infermeter::gate_report_test
