#include "infermeter/report/forms/document.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <regex>

#include "infermeter/report/forms/document_part.hpp"
#include "infermeter/report/forms/document_run.hpp"
#include "infermeter/report/forms/document_validation.hpp"
#include "infermeter/report/forms/page.hpp"
#include "infermeter/report/options.hpp"
#include "infermeter/report/test_documents.hpp"
#include "infermeter/report/test_golden.hpp"

namespace infermeter::document_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

json parsed(const ReportPart& part) { return json::parse(part.json); }

json run_document(const RunRecord& record, const RenderOptions& options = {}) {
  return parsed(run_part(record, judge(record), options));
}

const json& check_named(const json& part, const std::string& name) {
  for (const json& check : part["checks"]) {
    if (check["name"] == name) return check;
  }
  ADD_FAILURE() << "no check is named " << name;
  return part;
}

// Without what changes with every release, and on lines that can be compared.
std::string approved_form(const std::string& document) {
  const std::regex version("\"infermeter_version\":\"[0-9.]+\",\"title\"");
  const std::string fixed = std::regex_replace(document, version, "\"infermeter_version\":\"0.0.0\",\"title\"");
  const std::regex end_of_object("([}\\]]),(?=[{\"])");
  return std::regex_replace(fixed, end_of_object, "$1,\n");
}

TEST(Document, LooksAsApproved) {
  test::expect_golden("document/all.json",
                      approved_form(render_document(test::all_parts(), {.title = {}, .about = "One of each."})));
  test::expect_golden("document/comparison.json", approved_form(render_document(std::array{test::comparison_part()})));
  test::expect_golden("document/empty.json", approved_form(render_document({})));
}

TEST(Document, IsOnOneLine) {
  const std::string document = render_document(test::all_parts());
  EXPECT_EQ(document.find('\n'), document.size() - 1);
  EXPECT_EQ(document, render_document(test::all_parts()));
}

TEST(Document, HoldsTheRunAsItsOwnReportHasIt) {
  const RunRecord record = test::example_record();
  const Verdict verdict = test::example_verdict(record);
  const RenderOptions options{.samples = false};  // which a document rounds
  const json part = parsed(run_part(record, verdict, options));
  EXPECT_EQ(part["kind"], "run");
  EXPECT_EQ(part["run"], json::parse(render(record, verdict, Format::json, options)));
  EXPECT_EQ(part["title"], "resnet50, vit_b_16: onnxruntime, openvino, fake, 2026-11-21");
}

TEST(Document, HasTheTimesOfAnswersThatCameTokenByTokenInCommonBins) {
  RunRecord record = test::example_record();
  EXPECT_TRUE(run_document(record)["figures"]["generation"].empty());
  record.trials[0].generation.emplace().ttft = {.tick_s = 1e-3, .counts = {{100, 3}, {200, 1}}};
  const json generation = run_document(record)["figures"]["generation"];
  ASSERT_EQ(generation.size(), 1U);
  EXPECT_EQ(generation[0]["time"], "ttft");
  EXPECT_FALSE(generation[0]["log"]);
  EXPECT_EQ(generation[0]["edges_s"].size(), 5U);
  EXPECT_EQ(generation[0]["subjects"].size(), 1U);
  EXPECT_EQ(generation[0]["subjects"][0]["n"], 4);
  EXPECT_EQ(generation[0]["subjects"][0]["shares"], (json{0.75, 0, 0, 0.25}));
}

TEST(Document, HasTheCourseOfTimesWhereTheyHaveTwoPoints) {
  RunRecord record = test::example_record();
  GenerationRecord& one = record.trials[0].generation.emplace();
  one.itl_by_position = {{1, 1, 1, 12, 0.01, 0.02}, {2, 2, 2, 9, 0.03, {}}};
  one.ttft_by_prompt = {{128, 135, 128, 12, 0.1, 0.2}};
  const json courses = run_document(record)["figures"]["courses"];
  ASSERT_EQ(courses.size(), 1U) << "prompts of one length have no course";
  EXPECT_EQ(courses[0]["time"], "itl");
  ASSERT_EQ(courses[0]["subjects"].size(), 1U);
  const json& subject = courses[0]["subjects"][0];
  EXPECT_NEAR(subject["growth_s"]["value"], 0.02, 1e-15);
  EXPECT_TRUE(subject["growth_s"]["interval"].is_null());
  EXPECT_EQ(subject["points"][0]["n"], 12);
  EXPECT_NEAR(subject["points"][0]["p90_s"]["value"], 0.02, 1e-15);
  EXPECT_EQ(subject["points"][1]["p90_s"]["processes"], 0);
}

TEST(Document, TheTitleOfTwoNamesThemWithDayAndHost) {
  RunRecord record = test::example_record();
  record.plan.subjects.resize(2);
  for (auto* trials : {&record.trials, &record.side_trials}) {
    std::erase_if(*trials, [](const Samples& trial) { return trial.subject > 1; });
  }
  record.outputs.resize(1);
  record.environment.hostname = "build-7";
  EXPECT_EQ(run_document(record)["title"], "openvino against onnxruntime: resnet50, 2026-11-21, build-7");
  record.plan.tuning.emplace();
  EXPECT_EQ(run_title(record), "Best settings of resnet50: onnxruntime, openvino");
}

TEST(Document, HoldsTheOtherReportsAsTheyAre) {
  const Validation validation = test::example_validation();
  const json part = parsed(validation_part(validation, test::example_pictures()));
  EXPECT_EQ(part["validation"], json::parse(render_validation(validation, Format::json, {})));
  EXPECT_EQ(part["difference_pictures"][0]["reference"], "AP8A/A==");
  EXPECT_EQ(part["difference_pictures"][0]["largest"]["column"], 3);
  EXPECT_EQ(part["outcome"], "pass");
  EXPECT_TRUE(part["run"].is_null() && part["figures"].is_null());
  for (const char* kind : {"gate", "variants", "layers", "history"}) EXPECT_TRUE(part[kind].is_null()) << kind;
}

TEST(Document, EveryAnswerHasAWord) {
  const json document = json::parse(render_document(test::all_parts()));
  for (const json& part : document["parts"]) {
    EXPECT_FALSE(part["answers"].empty()) << part["kind"];
    for (const json& answer : part["answers"]) EXPECT_NE(answer["verdict"], "") << answer["text"];
  }
}

TEST(Document, AnswersWithWhatWentWrongFirst) {
  const json part = parsed(test::comparison_part());
  EXPECT_EQ(part["answers"][0]["verdict"], "outputs differ");
  EXPECT_EQ(part["answers"][1]["verdict"], "leaks");
  EXPECT_EQ(part["answers"][2]["verdict"], "faster");
  EXPECT_EQ(part["answers"][3]["verdict"], "undecided");
  EXPECT_EQ(check_named(part, "the question is decided")["detail"], "1 of 2, after 16 pairs");
  const json gate = parsed(test::example_gate_part());
  EXPECT_EQ(gate["outcome"], "fail");
  EXPECT_EQ(gate["answers"][0]["verdict"], "fail");
  EXPECT_THAT(gate["answers"][1]["text"].get<std::string>(), HasSubstr("latency_p50_ms <= 20, resnet50@onnxruntime"));
  EXPECT_EQ(gate["answers"][2]["verdict"], "pass");
  EXPECT_EQ(gate["checks"][0]["name"], "latency_p50_ms <= 40");
}

TEST(Document, ReservationsComeWithTheirRemedy) {
  const json part = parsed(test::example_part());
  EXPECT_EQ(part["notices"][0]["id"], "outputs_differ");
  EXPECT_EQ(part["notices"][0]["severity"], "error");
  EXPECT_THAT(part["notices"][0]["remedy"].get<std::string>(), Not(testing::IsEmpty()));
}

TEST(Document, RatiosAreOfAllPairsOfAGroupBothWays) {
  RunRecord record = test::example_record();
  for (int process : {1, 2}) {
    for (int subject = 0; subject < 4; ++subject) {
      record.trials.push_back(test::trial_of(subject, process, 4 * process + subject, 0.01 * (subject + 1)));
    }
  }
  const json ratios = run_document(record)["figures"]["ratios"];
  // Groups of two and of three; the third of the second one never ran.
  ASSERT_EQ(ratios.size(), 2U + 6U);
  EXPECT_EQ(ratios[0]["baseline"], 0);
  EXPECT_EQ(ratios[0]["subject"], 1);
  EXPECT_NEAR(ratios[0]["value"].get<double>() * ratios[1]["value"].get<double>(), 1, 1e-12);
  EXPECT_NEAR(ratios[0]["interval"]["low"].get<double>() * ratios[1]["interval"]["high"].get<double>(), 1, 1e-12);
  EXPECT_TRUE(ratios.back()["value"].is_null());
  const Verdict verdict = judge(record);
  EXPECT_EQ(ratios[0]["value"].get<double>(), *verdict.subjects[1].ratios[0].estimate.value);
}

TEST(Document, LargeGroupsAreHeldAgainstTheirFirstOnly) {
  RunRecord record;
  for (int i = 0; i < 41; ++i) {
    record.plan.subjects.push_back(test::subject_named("mlp", std::to_string(i), 1, 0));
    record.trials.push_back(test::trial_of(i, 0, i, 0.01));
  }
  record.models.resize(41);
  EXPECT_EQ(run_document(record)["figures"]["ratios"].size(), 2U * 40);
  record.plan.subjects.pop_back();
  record.models.pop_back();
  record.trials.pop_back();
  EXPECT_EQ(run_document(record)["figures"]["ratios"].size(), 40U * 39);
}

TEST(Document, DistributionsAreOfSubjectsThatHaveIterations) {
  const json figures = parsed(test::example_part())["figures"];
  ASSERT_EQ(figures["distributions"].size(), 4U);
  const json& first = figures["distributions"][0];
  EXPECT_EQ(first["n"], 2);
  EXPECT_EQ(first["quantiles_s"].size(), figures["quantile_levels"].size());
  EXPECT_EQ(first["processes"][0]["quantiles_s"].size(), figures["process_levels"].size());
  EXPECT_LE(first["processes"][0]["fences_s"]["severe_low"], first["processes"][0]["fences_s"]["mild_low"]);
}

TEST(Document, SaysHowManyIterationsAPercentileNeeds) {
  const json figures = parsed(test::example_part())["figures"];
  const auto needs = [&](const char* levels, const char* list, double level) {
    const auto all = figures[levels].get<std::vector<double>>();
    return figures[list].get<std::vector<double>>().at(
        static_cast<std::size_t>(std::ranges::find(all, level) - all.begin()));
  };
  EXPECT_EQ(figures["quantile_needs"].size(), figures["quantile_levels"].size());
  EXPECT_EQ(needs("quantile_levels", "quantile_needs", 0.99), 299);
  EXPECT_EQ(needs("quantile_levels", "quantile_needs", 0.5), 6);
  EXPECT_EQ(needs("quantile_levels", "quantile_needs", 1), 1);
  EXPECT_EQ(needs("process_levels", "process_needs", 0.95), 59);
  EXPECT_EQ(needs("process_levels", "process_needs", 0.5), 1);
}

TEST(Document, FrontsAreOfAGroupAndKeepWhatIntervalsDoNotTellApart) {
  RunRecord record;
  const double speeds[] = {0.03, 0.02, 0.0201, 0.04};
  for (int i = 0; i < 4; ++i) {
    record.plan.subjects.push_back(test::subject_named("mlp", std::to_string(i), 1, i == 3 ? 1 : 0));
    for (int process = 0; process < 3; ++process) {
      record.trials.push_back(test::trial_of(i, process, 3 * i + process, speeds[i] * (1 + 0.01 * process)));
      record.trials.back().memory.rss_peak_inference = 1'000'000;
    }
    record.models.emplace_back().size_bytes = 1000;
  }
  const json fronts = run_document(record)["figures"]["fronts"];
  const auto front = [&](const std::string& against) {
    for (const json& one : fronts) {
      if (one["against"] == against) return one["front"].get<std::vector<int>>();
    }
    return std::vector<int>{};
  };
  // The first takes half as long again; the next two are not distinguished; the last is alone in its group.
  EXPECT_EQ(front("model_size"), (std::vector<int>{1, 2}));
  EXPECT_EQ(front("memory_peak"), (std::vector<int>{1, 2}));
  EXPECT_TRUE(front("accuracy").empty());
}

TEST(Document, LongRunsAreThinnedAndSayHowManyThereWere) {
  RunRecord record = test::example_record();
  Samples& trial = record.trials[0];
  trial.begin_s.clear();
  trial.end_s.clear();
  constexpr std::size_t many = 2 * kDrawnIterations;
  for (std::size_t i = 0; i < many; ++i) {
    trial.begin_s.push_back(0.001 * static_cast<double>(i));
    trial.end_s.push_back(trial.begin_s.back() + (i == 1234 ? 0.5 : 0.0001 + 1e-8 * static_cast<double>(i % 97)));
  }
  const json part = run_document(record);
  const json& written = part["run"]["trials"][0];
  EXPECT_EQ(written["iterations"], many);
  EXPECT_LE(written["samples"]["latency_s"].size(), kDrawnIterations);
  EXPECT_GT(written["samples"]["latency_s"].size(), kDrawnIterations * 9 / 10);
  EXPECT_THAT(written["samples"]["latency_s"], Contains(0.5));
  EXPECT_EQ(part["run"]["trials"][1]["samples"]["latency_s"].size(), 2U);
  EXPECT_EQ(part["figures"]["distributions"][0]["n"], many);
}

TEST(Document, WithoutSamplesHasNone) {
  const json part = parsed(test::example_part({.samples = false}));
  EXPECT_FALSE(part["run"]["trials"][0].contains("samples"));
  EXPECT_EQ(part["figures"]["distributions"].size(), 4U);
}

TEST(Document, SamplesAreWrittenShort) {
  RunRecord record = test::example_record();
  record.trials[0].begin_s = {1.0 / 3, 2.0 / 3};
  record.trials[0].end_s = {1.0 / 3 + 0.1 / 3, 2.0 / 3 + 0.1 / 7};
  const std::string text = run_part(record, judge(record)).json;
  EXPECT_THAT(text, HasSubstr(R"("samples":{"begin_s":[0.3333,0.6667],"latency_s":[0.0333333,0.0142857]})"));
}

TEST(Document, WhatIsNoNumberIsNull) {
  RunRecord record = test::example_record();
  record.trials[0].end_s[0] = std::numeric_limits<double>::quiet_NaN();
  record.trials[0].begin_s[1] = -std::numeric_limits<double>::infinity();
  const json part = run_document(record);
  EXPECT_TRUE(part["run"]["trials"][0]["samples"]["latency_s"][0].is_null());
  EXPECT_TRUE(part["run"]["trials"][0]["samples"]["begin_s"][1].is_null());
}

TEST(Document, OfARunWithoutTrialsSaysSo) {
  RunRecord record = test::example_record();
  record.trials.clear();
  record.outputs.clear();
  const json part = run_document(record);
  EXPECT_EQ(part["outcome"], "none");
  EXPECT_EQ(part["answers"].size(), 1U);
  EXPECT_EQ(part["answers"][0]["verdict"], "not measured");
  EXPECT_TRUE(part["figures"]["distributions"].empty());
  EXPECT_EQ(run_document(RunRecord{})["answers"][0]["verdict"], "not measured");
}

TEST(Document, OfOneSubjectSaysHowFastItIs) {
  RunRecord record = test::example_record();
  record.plan.subjects.resize(1);
  record.models.resize(1);
  record.trials.resize(1);
  record.outputs.clear();
  record.trials[0].begin_s = {1, 2, 3, 4, 5, 6};
  record.trials[0].end_s = {1.0382, 2.0382, 3.0382, 4.0382, 5.0382, 6.0382};
  json part = run_document(record);
  EXPECT_EQ(part["answers"][0]["verdict"], "measured");
  EXPECT_THAT(part["answers"][0]["text"].get<std::string>(),
              AllOf(HasSubstr("resnet50@onnxruntime takes 38.2 ms (no interval: "), HasSubstr("6 iterations in 1 ")));
  EXPECT_TRUE(part["figures"]["ratios"].empty());
  record.trials[0].begin_s.resize(1);
  record.trials[0].end_s.resize(1);
  part = run_document(record);
  EXPECT_EQ(part["answers"][0]["verdict"], "cannot tell");
  EXPECT_EQ(part["figures"]["distributions"][0]["n"], 1);
}

TEST(Document, SaysThatMachinesDiffer) {
  std::vector<ReportPart> parts(3);
  parts[0] = {.title = "a", .machine = "11", .machine_name = "AMD EPYC", .json = "{}", .text = {}};
  parts[1] = {.title = "b", .machine = "22", .machine_name = {}, .json = "{}", .text = {}};
  parts[2] = {.title = "c", .machine = {}, .machine_name = {}, .json = "{}", .text = {}};
  const json document = json::parse(render_document(parts));
  ASSERT_EQ(document["notices"].size(), 1U);
  EXPECT_EQ(document["notices"][0]["id"], "machines_differ");
  EXPECT_EQ(document["notices"][0]["messages"][0],
            "measured on 2 machines (AMD EPYC (11); 22): times are not comparable across them");
  EXPECT_EQ(document["title"], "3 reports: a, …");
  EXPECT_FALSE(document.contains("about"));
  const json headed = json::parse(render_document(parts, {.title = "<b>", .about = "why"}));
  EXPECT_EQ(headed["title"], "<b>");
  EXPECT_EQ(headed["about"], "why");
  EXPECT_THAT(render_html(parts, {.title = "<b>", .about = {}}), HasSubstr("<title>&lt;b&gt;</title>"));
  parts[1].machine = "11";
  EXPECT_TRUE(json::parse(render_document(parts))["notices"].empty());
}

TEST(Document, SurvivesHostileNames) {
  const RunRecord record = test::hostile_record();
  const std::string document = render_document(std::array{run_part(record, judge(record))});
  EXPECT_THAT(document, AllOf(Not(HasSubstr("<")), Not(HasSubstr("\x1b")), Not(HasSubstr("\xe2\x80\xae"))));
  EXPECT_EQ(document.find('\0'), std::string::npos);
  EXPECT_EQ(json::parse(document)["parts"][0]["run"]["subjects"].size(), record.plan.subjects.size());
}

}  // namespace
}  // namespace infermeter::document_test
