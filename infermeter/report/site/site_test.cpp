#include "infermeter/report/site/site.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "infermeter/report/site/words.hpp"

namespace infermeter::site_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* hostile = "</title><script>alert(1)</script>\"'&]]>\x1b[31m\xe2\x80\xae";
constexpr double first_day = 1794224520, day_s = 86400;  // 2026-11-09 11:42

// So many runs of 1 ms, one a day, then so many of `factor` ms.
History history_of(const std::string& series, int before, int after, double factor) {
  History history;
  history.series = series;
  history.machine = "00ff00ff00ff00ff";
  history.metric = "latency_p50";
  for (int day = 0; day < before + after; ++day) {
    Figure figure;
    figure.run = "run-" + std::to_string(day);
    figure.created_at = first_day + day * day_s;
    figure.label = figure.series = series;
    figure.machine = history.machine;
    figure.metric = history.metric;
    figure.value = day < before ? 1e-3 : 1e-3 * factor;
    figure.interval = Interval{.low = figure.value * 0.99, .high = figure.value * 1.01};
    figure.processes = 3;
    history.figures.push_back(figure);
  }
  const auto border = static_cast<std::size_t>(before);
  history.levels = {{.begin = 0, .end = border, .mean_log = std::log(1e-3), .sd = 0.001}};
  if (after == 0) return history;
  history.levels.push_back({.begin = border,
                            .end = border + static_cast<std::size_t>(after),
                            .mean_log = std::log(1e-3 * factor),
                            .sd = 0.001});
  HistoryChange change;
  change.point = {
      .index = border, .change = factor - 1, .statistic = 40, .p = 0.005, .by_scan = true, .by_e_divisive = true};
  change.worse = factor > 1;
  change.context = {{.what = ContextChange::What::runtime_version, .before = "1", .after = "2<"}};
  history.changes = {change};
  return history;
}

Site site_of(std::vector<History> histories) {
  Site site;
  site.title = "Speed";
  site.feed_id = "urn:uuid:1";
  site.script = "assets/report-1.js";
  site.style = "assets/report-1.css";
  site.machines = {{.machine = "00ff00ff00ff00ff", .hostname = "build-7", .processor = "AMD EPYC", .runs = 12}};
  for (History& history : histories)
    site.series.push_back({.history = std::move(history), .name = "s" + std::to_string(site.series.size())});
  site.runs = {{.id = "run-1",
                .created_at = first_day + day_s,
                .labels = {"a"},
                .tags = {"nightly"},
                .note = "after the update",
                .page = "runs/run-1.html",
                .before = "run-0"},
               {.id = "run-0", .created_at = first_day, .labels = {"a"}, .page = "runs/run-0.html"}};
  return site;
}

std::vector<std::string> between(const std::string& text, const std::string& begin, const std::string& end) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    found.push_back(text.substr(at, text.find(end, at) - at));
  }
  return found;
}

TEST(SiteBadge, SaysTheLastFigureAndTheState) {
  const std::string alarm = site_badge(history_of("mlp@fake", 8, 6, 1.1));
  EXPECT_EQ(between(alarm, "<title>", "</title>").at(0), "mlp@fake: 1.10 ms [1.09, 1.11], alarm");
  EXPECT_THAT(alarm, HasSubstr("fill=\"#b3202b\""));
  EXPECT_THAT(site_badge(history_of("mlp@fake", 8, 6, 0.9)), AllOf(HasSubstr(", better<"), HasSubstr("#1a7238")));
  EXPECT_THAT(site_badge(history_of("mlp@fake", 14, 0, 1)), AllOf(HasSubstr(", steady<"), HasSubstr("#1a7238")));
  History few = history_of("mlp@fake", 2, 0, 1);
  few.levels.clear();
  few.too_few = true;
  EXPECT_THAT(site_badge(few), AllOf(HasSubstr(", too few runs<"), HasSubstr("#566170")));
  few.figures.clear();
  EXPECT_EQ(between(site_badge(few), "<title>", "</title>").at(0), "mlp@fake: too few runs");
}

double width_of(const std::string& badge) { return std::stod(between(badge, " width=\"", "\"").at(0)); }

TEST(SiteBadge, IsAsWideAsItsTextIsShown) {
  const double narrow = width_of(site_badge(history_of("ab", 14, 0, 1)));
  EXPECT_NEAR(width_of(site_badge(history_of("abcd", 14, 0, 1))) - narrow, 2 * 6.6, 0.11);
  EXPECT_NEAR(width_of(site_badge(history_of("模型", 14, 0, 1))) - narrow, 2 * 6.6, 0.11) << "each is two columns";
  EXPECT_LT(width_of(site_badge(history_of(std::string(5000, 'x'), 14, 0, 1))), 700);
}

TEST(SiteFeed, HasTheNewestChangesOfAllSeriesWithIdsThatStay) {
  Site site = site_of({history_of("early", 8, 6, 1.1), history_of("late", 9, 6, 0.9)});
  const std::string feed = site_feed(site);
  const auto titles = between(feed, "<title>", "</title>");
  ASSERT_THAT(titles, SizeIs(3));
  EXPECT_EQ(titles[0], "Speed: changes");
  EXPECT_EQ(titles[1], "late on build-7: latency p50 10.0 % faster");
  EXPECT_EQ(titles[2], "early on build-7: latency p50 10.0 % slower");
  EXPECT_EQ(
      between(feed, "<updated>", "</updated>"),
      (std::vector<std::string>{"2026-11-18T11:42:00.000Z", "2026-11-18T11:42:00.000Z", "2026-11-17T11:42:00.000Z"}));
  EXPECT_THAT(feed, HasSubstr("Since run run-8. What else changed there: the runtime&#39;s version: 1 → 2&lt;."));
  const auto ids = between(feed, "<id>", "</id>");
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 3U);
  site.series.front().history.figures.push_back(site.series.front().history.figures.back());
  std::swap(site.series.front(), site.series.back());
  EXPECT_EQ(between(site_feed(site), "<id>", "</id>"), ids);
}

TEST(SiteFeed, HasAHundredEntriesAtMostAndTimesThatAFeedMayHave) {
  std::vector<History> histories;
  for (int i = 0; i < 120; ++i) histories.push_back(history_of("s" + std::to_string(i), 8, 6, 1.1));
  for (Figure& figure : histories.front().figures) figure.created_at = 1e300;
  const std::string feed = site_feed(site_of(std::move(histories)));
  EXPECT_THAT(between(feed, "<entry>", "</entry>"), SizeIs(100));
  const auto moments = between(feed, "<updated>", "</updated>");
  EXPECT_THAT(moments, testing::Each(testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\\.[0-9]+)?Z")));
  EXPECT_THAT(between(site_feed(site_of({})), "<updated>", "</updated>"),
              testing::ElementsAre("1970-01-01T00:00:00.000Z"));
}

TEST(SitePages, TheIndexShowsEachSeriesOnEachMachine) {
  Site site = site_of({history_of("a", 8, 6, 1.1), history_of("b", 14, 0, 1)});
  site.machines.push_back({.machine = "11", .hostname = "far", .processor = {}, .runs = 1});
  const std::string index = site_index(site);
  EXPECT_THAT(index,
              AllOf(HasSubstr("2 series on 2 machines, 1 with an alarm; the last run began 2026-11-10 11:42 UTC"),
                    HasSubstr("href=\"series/s0.html\""), HasSubstr("10.0 % slower since 2026-11-17")));
  EXPECT_THAT(between(index, "<td class=\"none\">", "</td>"), SizeIs(2)) << "neither is measured on the second machine";
  EXPECT_EQ(index, site_index(site));
  EXPECT_THAT(site_index(site_of({})), HasSubstr("No finished run has figures yet"));
}

TEST(SitePages, RunsStandWithTheCommandThatComparesThem) {
  Site site = site_of({});
  site.without_page = 3;
  const std::string page = site_runs(site);
  EXPECT_THAT(page, AllOf(HasSubstr("<code>infermeter compare run-0 run-1</code>"), HasSubstr(">nightly<"),
                          HasSubstr("after the update"), HasSubstr("3 older runs have no page")));
  EXPECT_LT(page.find("run-1.html"), page.find("run-0.html"));
}

TEST(SitePages, NamesFromOutsideAreText) {
  Site site = site_of({history_of(hostile, 8, 6, 1.1)});
  site.title = site.machines.front().hostname = hostile;
  site.runs.front().id = site.runs.front().before = site.runs.front().note = hostile;
  site.runs.front().labels = site.runs.front().tags = {hostile};
  site.runs.front().series = {0};
  const PageFrame frame = site_run_frame(site, site.runs.front());
  for (const std::string& text :
       {site_index(site), site_runs(site), site_feed(site), site_badge(site.series.front().history),
        site_series_page(site, site.series.front()), frame.above + frame.below}) {
    EXPECT_THAT(text, AllOf(Not(HasSubstr("<script>alert")), Not(HasSubstr("\x1b")), Not(HasSubstr("\xe2\x80\xae")),
                            HasSubstr("&lt;/title&gt;")));
  }
  // What is to be copied into a shell is one word there.
  EXPECT_THAT(site_runs(site), HasSubstr("infermeter compare &#39;"));
}

}  // namespace
}  // namespace infermeter::site_test
