#include "infermeter/report/history/report.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "infermeter/report/numbers/sparkline.hpp"
#include "infermeter/report/test_golden.hpp"
#include "infermeter/text/terminal.hpp"

namespace infermeter::history_report_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

void expect_golden(const std::string& name, const std::string& text) { test::expect_golden("history/" + name, text); }

constexpr double day_s = 86400;

Figure figure(int day, double value) {
  Figure figure;
  figure.run = "202611" + std::string(day < 1 ? "0" : "") + std::to_string(day + 9) + "-114200-3f9a";
  figure.created_at = 1794224520 + day * day_s;  // 2026-11-09 11:42
  figure.label = "mlp";
  figure.series = "mlp@onnxruntime,threads=1";
  figure.machine = "00ff00ff00ff00ff";
  figure.metric = "latency_p50";
  figure.value = value;
  figure.interval = Interval{.low = value * 0.99, .high = value * 1.01};
  figure.processes = 3;
  figure.runtime_version = day < 12 ? "1.20.1" : "1.21.0";
  figure.model_sha256 = std::string(64, 'a');
  figure.git_commit = "0123abc" + std::to_string(day);
  figure.infermeter_version = "0.1.0";
  return figure;
}

// Written by hand down to the last figure: 12 runs at 1 ms, 5 at 1.1 ms.
History step() {
  History history;
  history.series = figure(0, 1).series;
  history.machine = figure(0, 1).machine;
  history.metric = "latency_p50";
  for (int day = 0; day < 17; ++day)
    history.figures.push_back(figure(day, (day < 12 ? 1e-3 : 1.1e-3) + 1e-6 * (day % 3)));
  history.levels = {{.begin = 0, .end = 12, .mean_log = std::log(1.001e-3), .sd = 0.0009},
                    {.begin = 12, .end = 17, .mean_log = std::log(1.101e-3), .sd = 0.0008}};
  HistoryChange change;
  change.point = {
      .index = 12, .change = 0.0999, .statistic = 41.25, .p = 0.005, .by_scan = true, .by_e_divisive = true};
  change.worse = true;
  change.context = {{.what = ContextChange::What::runtime_version, .before = "1.20.1", .after = "1.21.0"},
                    {.what = ContextChange::What::model,
                     .before = std::string(64, 'a'),
                     .after = std::string(64, 'b'),
                     .runs_off = 1},
                    {.what = ContextChange::What::git_commit, .before = "0123abc11", .after = "0123abc12"}};
  history.changes = {change};
  return history;
}

History short_history() {
  History history = step();
  history.series = "resnet50@openvino,batch=4";
  history.figures.resize(4);
  history.levels.clear();
  history.changes.clear();
  history.too_few = true;
  return history;
}

HistoryReport example() {
  HistoryReport report;
  report.metric = "latency_p50";
  report.this_machine = "00ff00ff00ff00ff";
  report.machines = {{.machine = "00ff00ff00ff00ff", .hostname = "build-7", .processor = "AMD EPYC"}};
  report.entries = {{.history = step(),
                     .confirmation = Confirmation{.command = "infermeter compare mlp@onnxruntime,threads=1 "
                                                             "--a-backend-library old.so --b-backend-library new.so",
                                                  .why_not = {}}},
                    {.history = short_history(), .confirmation = {}}};
  return report;
}

HistoryReport only(History history) {
  HistoryReport report = example();
  report.entries = {{.history = std::move(history), .confirmation = {}}};
  return report;
}

TEST(HistoryReport, LooksAsApproved) {
  expect_golden("history.txt", render_history(example(), 80));
  expect_golden("list.txt", render_series_list(example(), 80));
  expect_golden("history.json", render_history_json(example(), true));
  expect_golden("list.json", render_history_json(example(), false));
}

TEST(HistoryReport, FitsTheWidthButForWhatIsToBeCopied) {
  HistoryReport report = example();
  report.entries[0].history.series = std::string(150, 'x');
  for (const std::size_t width : {60U, 80U, 100U}) {
    std::istringstream lines(render_series_list(report, width) + render_history(only(short_history()), width));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), std::max<std::size_t>(width, 80)) << line;
    }
  }
}

TEST(HistoryReport, AnImprovementRaisesNoAlarm) {
  History history = step();
  history.changes[0].worse = false;
  history.changes[0].point.change = -0.0909;
  EXPECT_THAT(render_history(only(history), 80),
              AllOf(HasSubstr("✓"), HasSubstr("9.09 % faster"), Not(HasSubstr("ALARM"))));
}

TEST(HistoryReport, SaysWhyAnAlarmCannotBeConfirmedHere) {
  HistoryReport report = only(step());
  report.entries[0].confirmation = Confirmation{.command = {}, .why_not = "the older library is gone"};
  EXPECT_THAT(render_history(report, 80), HasSubstr("→ the older library is gone"));
  EXPECT_THAT(render_history_json(report, false), HasSubstr("\"confirm\": null"));
}

TEST(HistoryReport, SpeaksOfEachMetricInItsOwnWords) {
  History history = step();
  history.metric = "memory_peak";
  for (Figure& figure : history.figures) figure.value *= 1e11;
  for (Level& level : history.levels) level.mean_log += std::log(1e11);
  EXPECT_THAT(render_history(only(history), 80), AllOf(HasSubstr("more peak memory"), HasSubstr("100 MB")));
}

TEST(HistoryReport, TellsOfRunsThatItDoesNotShow) {
  HistoryReport report = example();
  report.hidden_runs = 12;
  const std::string said = "12 runs of other machines are not shown (--machine all lists them)";
  EXPECT_THAT(render_history(report, 100), HasSubstr(said));
  EXPECT_THAT(render_series_list(report, 100), HasSubstr(said));
  report.hidden_runs = 1;
  EXPECT_THAT(render_history(report, 100), HasSubstr("1 run of other machines is not shown"));
}

TEST(HistoryReport, ShowsHostileNamesHarmlessly) {
  HistoryReport report = example();
  report.machines[0].hostname = "a\x1b[31m";
  report.entries[0].history.series = "x\x1b]0;y\x07\n";
  for (Figure& figure : report.entries[0].history.figures) figure.run = "\x1b[2J";
  for (ContextChange& change : report.entries[0].history.changes[0].context) change.after = "\x1b[2J";
  report.entries[0].confirmation->command = "\x1b[2J";
  for (const std::string& text :
       {render_history(report, 80), render_series_list(report, 80), render_history_json(report, true)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

TEST(HistoryReport, NamesADayOnce) {
  History history = short_history();
  for (Figure& figure : history.figures) figure.created_at = history.figures[0].created_at;
  history.left_out = 2;
  EXPECT_THAT(render_history(only(history), 100), HasSubstr("4 runs on 2026-11-09; 2 with a value of 0 left out"));
}

TEST(HistoryReport, ShowsAHistoryWithNothingInIt) {
  History nothing;
  nothing.too_few = true;
  HistoryReport report = only(nothing);
  EXPECT_THAT(render_history(report, 80), HasSubstr("0 runs are too few"));
  report.entries.clear();
  EXPECT_THAT(render_history_json(report, true), HasSubstr("\"series\": []"));
}

TEST(Sparkline, GoesFromTheLowestToTheHighest) {
  EXPECT_EQ(sparkline({1, 2, 8}, 10), "▁▂█");
  EXPECT_EQ(sparkline({5, 5, 5}, 10), "▄▄▄");
  EXPECT_EQ(sparkline({}, 10), "");
}

TEST(Sparkline, CondensesWhatIsWiderThanTheLine) {
  std::vector<double> values(1000, 1);
  std::fill(values.begin() + 700, values.end(), 2);
  values[10] = 50;  // one of its column's 100, which the median leaves out
  EXPECT_EQ(sparkline(values, 10), "▁▁▁▁▁▁▁███");
}

}  // namespace
}  // namespace infermeter::history_report_test
