#include "infermeter/report/report.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "infermeter/report/exchange/exchange.hpp"
#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/run/answers.hpp"
#include "infermeter/report/run/row.hpp"
#include "infermeter/report/run/run_line.hpp"
#include "infermeter/report/run/subject_label.hpp"
#include "infermeter/report/test_golden.hpp"
#include "infermeter/report/test_records.hpp"
#include "infermeter/text/terminal.hpp"

namespace infermeter::report_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

void expect_golden(const std::string& name, const std::string& text) { test::expect_golden("report/" + name, text); }

std::string rendered(const RunRecord& record, Format format, RenderOptions options = {}) {
  return render(record, judge(record), format, options);
}

std::string example(Format format, RenderOptions options = {}) {
  const RunRecord record = test::example_record();
  return render(record, test::example_verdict(record), format, options);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Sentences without their line breaks.
std::string unwrapped(std::string text) {
  for (auto at = text.find("\n    "); at != std::string::npos; at = text.find("\n    ")) text.replace(at, 5, " ");
  return text;
}

constexpr Format all_formats[] = {Format::table, Format::json,        Format::csv,     Format::markdown,
                                  Format::latex, Format::openmetrics, Format::bencher, Format::google_benchmark};

TEST(Report, LooksAsApproved) {
  expect_golden("example_80.txt", example(Format::table, {.width = 80}));
  expect_golden("example_160.txt", example(Format::table, {.width = 160}));
  expect_golden("example_color.txt", example(Format::table, {.color = true}));
  expect_golden("example.md", example(Format::markdown));
  const RunRecord record = test::example_record();
  expect_golden("example_notebook.html", render_notebook(record, test::example_verdict(record)));
  test::expect_golden("exchange/example.tex", example(Format::latex));
  test::expect_golden("exchange/example.prom", example(Format::openmetrics));
  test::expect_golden("exchange/example.bencher.json", example(Format::bencher));
  test::expect_golden("exchange/example.benchmark.json", example(Format::google_benchmark));
  expect_golden("example.csv", example(Format::csv));
  expect_golden("example.json", example(Format::json));
  expect_golden("example_without_samples.json", example(Format::json, {.samples = false}));
}

TEST(Report, ShowsLoadsAsApproved) {
  const RunRecord record = test::load_run();
  const Verdict verdict = test::load_verdict(record);
  expect_golden("load.txt", render(record, verdict, Format::table, {.width = 120}));
  expect_golden("load.md", render(record, verdict, Format::markdown, {}));
  expect_golden("load.json", render(record, verdict, Format::json, {}));
}

TEST(Report, CallsNoResponseTimeALatency) {
  const RunRecord record = test::load_run();
  const std::string text = render(record, test::load_verdict(record), Format::table, {.width = 120});
  EXPECT_THAT(text, Not(HasSubstr("atenc")));
  EXPECT_THAT(text, HasSubstr("tokens"));
}

TEST(Report, SaysWhereTheFirstInferenceCounts) {
  RunRecord record = test::example_record();
  EXPECT_THAT(run_line(record), HasSubstr("100 iterations after 10 of warm-up, seed 1"));
  record.plan.stopping = {.warmup = 0, .iterations = 1, .duration_s = {}, .count_first = true};
  EXPECT_THAT(run_line(record), HasSubstr("1 iteration, the first counted, seed 1"));
}

TEST(Report, ShowsCountersBySubject) {
  const std::string text = example(Format::table, {.width = 120});
  EXPECT_THAT(text,
              AllOf(HasSubstr("Counters     cache_hits  psnr_difference (dB)"), HasSubstr("-0.310 [-0.360, -0.260]"),
                    HasSubstr("0.200 [-0.110, 0.510], 2 of 3 processes"), HasSubstr("1.25e-07 [1.15e-07,")));
  const std::string markdown = example(Format::markdown);
  EXPECT_THAT(markdown, HasSubstr("| Counters | cache_hits | psnr_difference (dB) | wait (s) |\n|---|---|---|---|\n"
                                  "| onnxruntime | 3 ±0 | -0.310 \\[-0.360, -0.260\\] | – |\n"));
  const auto json = nlohmann::json::parse(example(Format::json));
  EXPECT_EQ(json["subjects"][0]["counters"][1]["name"], "psnr_difference");
  EXPECT_EQ(json["subjects"][0]["counters"][1]["value"], -0.31);
  EXPECT_EQ(json["subjects"][1]["counters"][0]["note"], "given by 2 of 3 processes");
  EXPECT_TRUE(json["subjects"][4]["counters"].empty());
}

TEST(Report, GivesEachUnitOfACounterAColumn) {
  const RunRecord record = test::example_record();
  Verdict verdict = test::example_verdict(record);
  verdict.subjects[0].summary.counters = {test::counter_with("wait", "s", 1, 0)};
  verdict.subjects[1].summary.counters = {test::counter_with("wait", "ms", 3, 0), test::counter_with("hits", "", 7, 0)};
  const auto lines = lines_of(render(record, verdict, Format::csv, {}));
  EXPECT_THAT(lines[0], testing::EndsWith(",seed,counter_wait_s,counter_wait_ms,counter_hits\r"));
  EXPECT_THAT(lines[1], testing::EndsWith(",1,1,,\r"));
  EXPECT_THAT(lines[2], testing::EndsWith(",1,,3,7\r"));
  EXPECT_THAT(render(record, verdict, Format::table, {}), HasSubstr("wait (s)  wait (ms)  hits"));
}

TEST(Report, ShowsTwentyCountersAndSaysHowManyMoreThereAre) {
  const RunRecord record = test::example_record();
  Verdict verdict = test::example_verdict(record);
  for (int i = 0; i < 23; ++i) {
    verdict.subjects[4].summary.counters.push_back(test::counter_with(fmt::format("count_{}", i), "", i, 0));
  }
  const std::string text = render(record, verdict, Format::table, {});
  EXPECT_THAT(text, AllOf(HasSubstr("count_19"), Not(HasSubstr("count_20")), HasSubstr("3 more counters")));
  EXPECT_THAT(render(record, verdict, Format::csv, {}), HasSubstr("counter_count_22"));
}

TEST(Report, ShowsWhyACounterHasNoValue) {
  const RunRecord record = test::example_record();
  Verdict verdict = test::example_verdict(record);
  CounterSummary counter = test::counter_with("wait", "s", 0, 0);
  counter.estimate.value.reset();
  counter.estimate.interval.reset();
  counter.estimate.note = "its unit differs between processes";
  verdict.subjects[0].summary.counters = {counter};
  EXPECT_THAT(render(record, verdict, Format::table, {}), HasSubstr("its unit differs between processes"));
}

TEST(Report, ShowsTheMemoryOfTheDeviceThatTheModelIsOn) {
  EXPECT_THAT(example(Format::table, {.width = 120}), HasSubstr("1.25 GB (device)"));
  const RunRecord record = test::example_record();
  Verdict verdict = test::example_verdict(record);
  EXPECT_THAT(unwrapped(render(record, verdict, Format::table, {.width = 120})),
              HasSubstr("peak memory is 1.20x smaller"));
  verdict.subjects[1].summary.metrics.push_back(test::metric_of("device_memory_peak", "bytes", 2.5e8, 0));
  verdict = test::answered(record, std::move(verdict));
  EXPECT_THAT(unwrapped(render(record, verdict, Format::table, {.width = 120})), Not(HasSubstr("peak memory is")));
  EXPECT_THAT(render(record, verdict, Format::csv, {}), HasSubstr(",210,device,312,250,"));
}

TEST(Report, AnswersAComparisonAsApproved) {
  const RunRecord record = test::comparison_record();
  const Verdict verdict = test::comparison_verdict(record);
  expect_golden("comparison.txt", render(record, verdict, Format::table, {.width = 80}));
  expect_golden("comparison.md", render(record, verdict, Format::markdown, {}));
  expect_golden("comparison.json", render(record, verdict, Format::json, {}));
}

TEST(Report, SaysFirstWhatAnswersSomethingElse) {
  const RunRecord record = test::comparison_record();
  const std::string text = unwrapped(render(record, test::comparison_verdict(record), Format::table, {.width = 120}));
  EXPECT_LT(text.find("the outputs of fake differ from those of onnxruntime"), text.find("openvino is 3.05 % faster"));
}

TEST(Report, SaysInTheAnswerThatOneRequestAtATimeWasMeasured) {
  RunRecord record = test::example_record();
  record.trials[1].diagnostics = {{DiagnosticId::one_request_at_a_time, "2 at once", ""}};
  const auto reported = worded_answers(record, test::example_verdict(record));
  for (const WordedAnswer& one : reported) {
    const bool is_its = one.answer.topic == AnswerTopic::speed && one.answer.subjects.front() == 1;
    const std::string expected = "; resnet50@openvino was measured one request at a time";
    EXPECT_EQ(one.text.find(expected) != std::string::npos, is_its) << one.text;
  }
  RunRecord pairs = test::comparison_record();
  pairs.trials[1].diagnostics = {{DiagnosticId::one_request_at_a_time, "2 at once", ""}};
  EXPECT_THAT(worded_answers(pairs, test::comparison_verdict(pairs))[0].text, HasSubstr("one request at a time"));
}

TEST(Report, TellsADecisionWithoutAnInterval) {
  const RunRecord record = test::comparison_record();
  Verdict verdict = test::comparison_verdict(record);
  for (PairedComparison& one : verdict.comparison->primary) one.interval.reset();
  verdict = test::answered(record, std::move(verdict));
  EXPECT_THAT(
      unwrapped(render(record, verdict, Format::table, {.width = 120})),
      AllOf(HasSubstr("openvino is 3.05 % faster than onnxruntime"),
            HasSubstr("(latency p50; too few pairs for an interval), decided after"), Not(HasSubstr("no difference"))));
}

// The answer's sentence says the level of its own interval; the line below a table speaks for all of its columns.
TEST(Report, SaysTheLevelOfSpeedupsWhereItIsAnother) {
  const RunRecord record = test::comparison_record();
  Verdict verdict = test::comparison_verdict(record);
  const auto level_everywhere = [&](double confidence) {
    for (SubjectVerdict& subject : verdict.subjects)
      for (Ratio& ratio : subject.ratios)
        if (ratio.estimate.interval) ratio.estimate.interval->confidence = confidence;
    return unwrapped(render(record, verdict, Format::table, {.width = 120}));
  };
  EXPECT_THAT(level_everywhere(0.95), Not(HasSubstr("Of speed-ups")));
  EXPECT_THAT(level_everywhere(0.975), AllOf(HasSubstr("Of speed-ups:"), HasSubstr("97.5 %.")));
  EXPECT_THAT(render(record, verdict, Format::openmetrics, {}),
              HasSubstr("Lower end of the 97.5 % interval of infermeter_latency_p50_improvement."));
}

TEST(Report, TellsAnOpenQuestionAsOpen) {
  const RunRecord record = test::comparison_record();
  const Verdict verdict = test::comparison_verdict(record);
  EXPECT_THAT(unwrapped(render(record, verdict, Format::table, {.width = 120})),
              AllOf(HasSubstr("undecided whether fake is faster or slower than onnxruntime"),
                    HasSubstr("1.98 % faster … 2.84 % slower"), HasSubstr("about 60 more pairs would settle it")));
}

TEST(Effects, AreSharesOfTheBaseline) {
  EXPECT_EQ(effect_text("latency_p50", std::log(1.031)), "3.10 % slower");
  EXPECT_EQ(effect_text("latency_p50", std::log(0.97)), "3.00 % faster");
  EXPECT_EQ(effect_text("latency_p50", std::log(2.52)), "2.52x slower");
  EXPECT_EQ(effect_text("latency_p50", std::log(1 / 2.52)), "2.52x faster");
  // Positive is worse: less throughput.
  EXPECT_EQ(effect_text("throughput", -std::log(0.9)), "10.0 % less throughput");
  EXPECT_EQ(effect_text("memory_peak", std::log(1.1)), "10.0 % more peak memory");
  EXPECT_EQ(effects_text("latency_p50", {std::log(0.963), std::log(0.976), 0.95}), "2.40 … 3.70 % faster");
  EXPECT_EQ(effects_text("latency_p50", {std::log(0.99), std::log(1.02), 0.95}), "1.00 % faster … 2.00 % slower");
  EXPECT_EQ(size_text(std::log(1.008)), "0.800 %");
}

TEST(Report, ShowsRunsWithNothingInThem) {
  const RunRecord empty{.id = "20261121-114200-0000", .finished = true};
  expect_golden("empty.txt", rendered(empty, Format::table));
  expect_golden("empty.json", rendered(empty, Format::json));
  expect_golden("empty.csv", rendered(empty, Format::csv));
  RunRecord unrun = test::example_record();
  unrun.trials.clear();
  unrun.outputs.clear();
  unrun.models.clear();
  unrun.finished = false;
  EXPECT_THAT(rendered(unrun, Format::table), AllOf(HasSubstr("not finished"), HasSubstr("not measured")));
  for (const Format format : all_formats) EXPECT_THAT(rendered(unrun, format), Not(HasSubstr("nan")));
}

TEST(Report, SaysWhatFailedWhereAllFailed) {
  RunRecord record = test::example_record();
  record.outputs.clear();
  for (auto& trial : record.trials) {
    trial.begin_s.clear();
    trial.end_s.clear();
    trial.end = TrialEnd::timeout;
    trial.phase = Phase::load;
    trial.message = "loading took longer than 300 s (--load-timeout)";
  }
  const std::string text = unwrapped(rendered(record, Format::table, {.width = 200}));
  EXPECT_THAT(text, HasSubstr("✗ timeout in load"));
  EXPECT_THAT(text,
              HasSubstr("resnet50@openvino did not finish in 1 of 1 trial: timeout in load; loading took longer"));
  EXPECT_THAT(text, Not(HasSubstr("faster")));
}

TEST(Report, GivesEnergyOrOnceTheReason) {
  RunRecord record = test::example_record();
  record.trials[0].energy.energy_j = 12.5;
  record.trials[1].energy.reason = "this machine shows no energy counters";
  const auto json = nlohmann::json::parse(rendered(record, Format::json));
  EXPECT_EQ(json["trials"][0]["energy_j"], 12.5);
  EXPECT_TRUE(json["trials"][1]["energy_j"].is_null());
  EXPECT_EQ(json["energy_reason"], "this machine shows no energy counters");
}

TEST(Report, MarksPartialTrials) {
  RunRecord record = test::example_record();
  record.trials[1].end = TrialEnd::interrupted;
  record.trials[1].phase = Phase::timed;
  for (int i = 0; i < 50; ++i) {
    record.trials[1].begin_s.push_back(1 + i);
    record.trials[1].end_s.push_back(1.03 + i + 0.0001 * i);
  }
  EXPECT_THAT(rendered(record, Format::table, {.width = 200}), HasSubstr("⚠ partial"));
}

TEST(Report, CallsNothingFasterWithoutAnInterval) {
  const RunRecord record = test::example_record();
  Verdict verdict = test::example_verdict(record);
  verdict.subjects[1].ratios[0].estimate.interval.reset();
  verdict = test::answered(record, std::move(verdict));
  EXPECT_THAT(unwrapped(render(record, verdict, Format::table, {})),
              AllOf(HasSubstr("undecided whether openvino or onnxruntime is faster"), HasSubstr("--processes 3"),
                    Not(HasSubstr("x faster than"))));
}

TEST(Report, TurnsRatiosRoundForWhatIsSlower) {
  const RunRecord record = test::example_record();
  Verdict verdict = test::example_verdict(record);
  verdict.subjects[1].ratios = {test::ratio_with("latency_p50", 0.5, 0.4, 0.8)};
  verdict = test::answered(record, std::move(verdict));
  EXPECT_THAT(unwrapped(render(record, verdict, Format::table, {})),
              HasSubstr("openvino is 2.00x slower than onnxruntime on resnet50 at batch size 1 "
                        "(95 % interval 1.25 … 2.50); outputs agree"));
}

// The example, with iterations enough to be drawn: the second subject is the faster one, and once very slow.
RunRecord drawn_record() {
  RunRecord record = test::example_record();
  for (const std::size_t subject : {0U, 1U}) {
    Samples& trial = record.trials[subject];
    trial.begin_s.clear();
    trial.end_s.clear();
    for (int i = 0; i < 60; ++i) {
      trial.begin_s.push_back(i);
      trial.end_s.push_back(i + (subject == 0 ? 0.0360 : 0.0340) + 0.00005 * (i % 20));
    }
  }
  record.trials[1].end_s.back() = 61;
  return record;
}

TEST(Report, ShowsHowLatenciesAreDistributedOnOneScale) {
  const RunRecord record = drawn_record();
  const std::string text = render(record, test::example_verdict(record), Format::table, {.width = 80});
  expect_golden("latencies_80.txt", text);
  EXPECT_THAT(text, HasSubstr("Latencies: all iterations, 34.0 ms … 36.9 ms; 4 longer ones in the last cell."));
  for (const auto& line : lines_of(text)) EXPECT_LE(display_width(line), 80U) << line;
}

TEST(Report, LeavesThePictureOutWhereThereIsNoRoomOrTooLittleToShow) {
  RunRecord record = drawn_record();
  const Verdict verdict = test::example_verdict(record);
  EXPECT_THAT(render(record, verdict, Format::table, {.width = 44}), Not(HasSubstr("Latencies")));
  for (auto& trial : record.trials) {
    trial.begin_s.resize(std::min<std::size_t>(trial.begin_s.size(), 19));
    trial.end_s.resize(trial.begin_s.size());
  }
  EXPECT_THAT(render(record, verdict, Format::table, {.width = 160}), Not(HasSubstr("Latencies")));
}

TEST(Report, AnswersFirst) {
  const std::string text = example(Format::table);
  EXPECT_LT(text.find("ANSWERS"), text.find("Latency p50"));
  EXPECT_LT(text.find("Latency p50"), text.find("CAVEATS"));
}

TEST(Report, FitsEightyColumns) {
  for (const std::size_t width : {40U, 80U, 81U, 100U, 133U}) {
    for (const auto& line : lines_of(example(Format::table, {.width = width}))) {
      EXPECT_LE(display_width(line), std::max<std::size_t>(width, 60)) << width << ": " << line;
    }
  }
  for (const auto& line : lines_of(example(Format::table, {.width = 80}))) EXPECT_LE(display_width(line), 80U) << line;
}

TEST(Report, ColorsOnlyWhenAskedAndNeverAlone) {
  const std::string plain = example(Format::table), colored = example(Format::table, {.color = true});
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  std::string stripped;
  for (std::size_t i = 0; i < colored.size(); ++i) {
    if (colored[i] == '\x1b') i = colored.find('m', i) + 1;
    if (i < colored.size() && colored[i] != '\x1b')
      stripped += colored[i];
    else
      --i;
  }
  EXPECT_EQ(stripped, plain);
}

TEST(Report, DisarmsHostileNames) {
  const RunRecord record = test::hostile_record();
  for (const Format format : {Format::table, Format::markdown}) {
    const std::string text = rendered(record, format);
    EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xe2\x80\xae")), Not(HasSubstr("\xc2\x9b")),
                            Not(HasSubstr("\r"))));
    EXPECT_EQ(text.find('\0'), std::string::npos);
    EXPECT_LT(text.size(), 200'000U);
  }
  EXPECT_THAT(rendered(record, Format::table), AllOf(HasSubstr("\\x1b[2J"), HasSubstr("\\u{202e}gnp")));
  EXPECT_THAT(rendered(record, Format::markdown),
              AllOf(Not(HasSubstr("<svg")), Not(HasSubstr("@team")), Not(HasSubstr(" #1"))));
}

TEST(Report, WritesJsonThatParsesWhateverTheNames) {
  RunRecord record = test::hostile_record();
  const std::string text = rendered(record, Format::json);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("<")), Not(HasSubstr("\x1b"))));
  const auto json = nlohmann::json::parse(text);
  const auto& names = test::hostile_names();
  EXPECT_EQ(json["subjects"][0]["label"], names[0]);
  EXPECT_EQ(json["subjects"][3]["label"], names[3]);
  EXPECT_EQ(json["subjects"][10]["label"], "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(json["subjects"][12]["label"], names[12]);
  EXPECT_EQ(json["plan"]["subjects"][0]["options"][names[0]], names[0]);
  EXPECT_EQ(json["subjects"][11]["label"], names[11]);
  // The one with a megabyte would make the golden file as large.
  for (auto* list :
       {&record.plan.subjects[11].label, &record.plan.subjects[11].model, &record.plan.subjects[11].backend,
        &record.plan.subjects[11].device, &record.models[11].name, &record.models[11].path, &record.trials[11].message,
        &record.trials[11].stderr_tail, &record.diagnostics[11].message, &record.diagnostics[11].about}) {
    *list = "short";
  }
  record.plan.subjects[11].options.clear();
  record.trials[11].executed.clear();
  const Verdict none{.subjects = {}, .diagnostics = record.diagnostics, .exit_code = 0};
  expect_golden("hostile.json", render(record, none, Format::json, {}));
  Verdict rows;
  for (int i = 0; i < static_cast<int>(record.plan.subjects.size()); ++i) {
    rows.subjects.emplace_back();
    rows.subjects.back().subject = i;
    const std::string name = test::hostile_names()[static_cast<std::size_t>(i)].substr(0, 30);
    rows.subjects.back().summary.counters = {test::counter_with(name, name, i, 0.5)};
  }
  expect_golden("hostile.csv", render(record, rows, Format::csv, {}));
  expect_golden("hostile_notebook.html", render_notebook(record, rows));
  test::expect_golden("exchange/hostile.prom", render(record, rows, Format::openmetrics, {}));
  test::expect_golden("exchange/hostile.tex", render(record, rows, Format::latex, {}));
}

TEST(Report, AnOutputThatIsNotFiniteHasNoError) {
  RunRecord record = test::example_record();
  OutputDifference& output = record.outputs[1].comparison.outputs[0];
  output.max_absolute = output.relative_l2 = output.cosine = std::nullopt;
  output.non_finite_apart = 1;
  const Verdict verdict = test::example_verdict(record);
  EXPECT_THAT(render(record, verdict, Format::table, {}), HasSubstr("✗ DIFFER, not finite"));
  const auto json = nlohmann::json::parse(render(record, verdict, Format::json, {}));
  EXPECT_TRUE(json["subjects"][3]["outputs"]["differences"][0]["max_absolute"].is_null());
}

TEST(Report, WhatCannotBeToldIsSaid) {
  RunRecord record = test::example_record();
  OutputComparison& comparison = record.outputs[0].comparison;
  comparison.agree = false;
  comparison.undecided = true;
  const Verdict verdict = test::example_verdict(record);
  const std::string text = render(record, verdict, Format::table, {});
  EXPECT_THAT(text,
              AllOf(HasSubstr("? undecided, max 2.1e-05"), HasSubstr("whether outputs agree cannot be determined")));
  EXPECT_THAT(render(record, verdict, Format::csv, {}), HasSubstr(",undecided,"));
}

TEST(Report, WritesNoNumberThatIsNone) {
  RunRecord record = test::example_record();
  record.trials[0].end_s = {std::nan(""), HUGE_VAL};
  record.trials[0].noise.steal = std::nan("");
  record.outputs[1].comparison.outputs[0].max_absolute = HUGE_VAL;
  Verdict verdict = test::example_verdict(record);
  verdict.subjects[0].summary.metrics[0].estimate.value = std::nan("");
  verdict.subjects[3].ratios[0].estimate.interval->high = HUGE_VAL;
  verdict = test::answered(record, std::move(verdict));
  for (const Format format : all_formats) {
    const std::string text = render(record, verdict, format, {});
    EXPECT_THAT(text, AllOf(Not(HasSubstr("nan,")), Not(HasSubstr(" nan ")), Not(HasSubstr("inf,")))) << text;
  }
  const auto json = nlohmann::json::parse(render(record, verdict, Format::json, {}));
  EXPECT_TRUE(json["trials"][0]["samples"]["latency_s"][0].is_null());
  EXPECT_TRUE(json["subjects"][0]["metrics"]["latency_p50"]["value"].is_null());
}

TEST(Report, KeepsEveryIterationToTheLastBit) {
  const RunRecord record = test::example_record();
  const auto json = nlohmann::json::parse(example(Format::json));
  const auto samples = json["trials"][1]["samples"];
  EXPECT_EQ(samples["begin_s"].get<std::vector<double>>(), record.trials[1].begin_s);
  EXPECT_EQ(samples["latency_s"].get<std::vector<double>>(), latencies_s(record.trials[1]));
}

// How long it takes is for bench/run json to say.
TEST(Report, WritesAMillionSamples) {
  RunRecord record = test::example_record();
  record.trials.resize(1);
  record.trials[0].begin_s.resize(1'000'000);
  record.trials[0].end_s.resize(1'000'000);
  double now = 0;
  for (std::size_t i = 0; i < 1'000'000; ++i) {
    record.trials[0].begin_s[i] = now;
    record.trials[0].end_s[i] = now += 0.0381234567 + 1e-9 * static_cast<double>(i % 977);
  }
  const Verdict verdict = test::example_verdict(record);
  EXPECT_GT(render(record, verdict, Format::json, {}).size(), 20'000'000U);
}

TEST(Report, IsTheSameForTheSameRecord) {
  for (const Format format : all_formats) EXPECT_EQ(example(format), example(format));
}

TEST(Report, KnowsItsFormats) {
  EXPECT_EQ(format_from_string("markdown").value(), Format::markdown);
  EXPECT_THAT(format_from_string("jsno").error().message,
              AllOf(HasSubstr("did you mean 'json'?"), HasSubstr("bencher or google-benchmark")));
  EXPECT_EQ(format_among("json", {Format::table, Format::json}, "a gate").value(), Format::json);
  EXPECT_EQ(format_among("csv", {Format::table, Format::json}, "a gate").error().message,
            "a gate has no csv report: --format takes table or json here");
  EXPECT_THAT(format_from_string("\x1b[2J").error().message, Not(HasSubstr("\x1b")));
}

TEST(ShortLabel, KeepsWhatTellsTheGroupApart) {
  RunRecord record;
  const auto add = [&](const char* label, const char* model, std::int64_t batch, int group) {
    Subject subject{.label = label, .model = model, .backend = "x"};
    subject.batch_size = batch;
    subject.group = group;
    record.plan.subjects.push_back(subject);
  };
  add("m@a,batch=1,threads=1", "m", 1, 0);
  add("m@a,batch=1,threads=2", "m", 1, 0);
  add("mine", "m", 1, 0);
  add("m@a,batch=4", "m", 4, 1);
  add("n@a,batch=4", "n", 4, 1);
  add("m@a,batch=1", "m", 1, 2);
  add("m@a,batch=16", "m", 16, 2);
  EXPECT_EQ(short_label(record, 0), "a,threads=1");
  EXPECT_EQ(short_label(record, 1), "a,threads=2");
  EXPECT_EQ(short_label(record, 2), "mine");
  EXPECT_EQ(short_label(record, 3), "m@a");  // two models: the title does not name one
  EXPECT_EQ(short_label(record, 4), "n@a");
  EXPECT_EQ(short_label(record, 5), "a,batch=1");
  EXPECT_EQ(short_label(record, 6), "a,batch=16");
}

TEST(LabelAlone, NamesTheBatchWhereSeveralGroupsHaveTheSameLabel) {
  RunRecord record;
  for (const std::int64_t batch : {1, 4}) {
    for (const char* const backend : {"a", "b"}) {
      Subject subject{.label = fmt::format("m@{},batch={}", backend, batch), .model = "m", .backend = backend};
      subject.batch_size = batch;
      subject.group = static_cast<int>(batch);
      record.plan.subjects.push_back(subject);
    }
  }
  EXPECT_EQ(short_label(record, 3), "b");
  EXPECT_EQ(label_alone(record, 1), "m@b,batch=1");
  EXPECT_EQ(label_alone(record, 3), "m@b,batch=4");
  record.plan.subjects.resize(2);
  EXPECT_EQ(label_alone(record, 1), "b");
}

}  // namespace
}  // namespace infermeter::report_test
