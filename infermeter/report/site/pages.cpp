// The pages that have no script: the index, and the list of runs; and what stands around the reports of the others.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "infermeter/report/forms/document_history.hpp"
#include "infermeter/report/forms/markup.hpp"
#include "infermeter/report/history/parts.hpp"
#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/numbers/sparkline.hpp"
#include "infermeter/report/site/words.hpp"
#include "infermeter/text/counts.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/shell_quote.hpp"
#include "infermeter/version.hpp"

namespace infermeter {
namespace {

constexpr std::size_t newest_shown = 10;  // changes and runs on the index
constexpr std::size_t labels_shown = 6;
constexpr std::size_t spark_columns = 60;
constexpr double spark_width = 120, spark_height = 28, spark_margin = 3;

// `up`: the way to the site's own folder.
std::string site_navigation(const Site& site, std::string_view up) {
  return fmt::format(
      "<nav class=\"site\" aria-label=\"Site\"><a href=\"{0}index.html\">{1}</a> <a href=\"{0}runs.html\">Runs</a> "
      "<a href=\"{0}feed.xml\">Feed</a></nav>\n",
      up, site_text(site.title, 100));
}

std::string section_of(std::string_view id, std::string_view title, std::string_view content) {
  return fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n", id, title, content);
}

// What is wider than the page scrolls, and is reached by the keyboard.
std::string scrolling_table(std::string_view name, std::string_view kind, std::string_view rows) {
  return fmt::format(
      "<div class=\"scrolling\" tabindex=\"0\" role=\"group\" aria-label=\"{}\"><table class=\"grid {}\">\n{}"
      "</table></div>\n",
      name, kind, rows);
}

std::string whole_page(const Site& site, std::string_view title, std::string_view about, std::string_view content) {
  const std::string feed = "<link rel=\"alternate\" type=\"application/atom+xml\" title=\"Changes\" href=\"feed.xml\">";
  return site_page_head(printable(title), site.style, feed) + "<body>\n" + site_navigation(site, "") +
         fmt::format(
             "<header class=\"head\"><div class=\"title\"><p class=\"maker\">infermeter {}</p><h1>{}</h1>"
             "<p class=\"about\">{}</p></div></header>\n<main id=\"content\" class=\"part pages\">\n{}</main>\n"
             "</body>\n</html>\n",
             INFERMETER_VERSION, site_text(title), about, content);
}

std::string run_labels(const std::vector<std::string>& labels) {
  std::vector<std::string> first(labels.begin(),
                                 labels.begin() + static_cast<std::ptrdiff_t>(std::min(labels.size(), labels_shown)));
  for (std::string& label : first) label = "<bdi>" + site_text(label, 100) + "</bdi>";
  const std::size_t more = labels.size() - first.size();
  return fmt::format("{}{}", fmt::join(first, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string command_between(const std::string& before, const std::string& after) {
  return fmt::format(
      "<code>{}</code>",
      site_text(fmt::format("infermeter compare {} {}", shell_quoted(before), shell_quoted(after)), 400));
}

// The runs as a line; a dash where the level changed.
std::string spark_line(const History& history) {
  std::vector<double> values;
  for (const Figure& figure : history.figures) values.push_back(figure.value);
  const auto drawn = condensed(values, spark_columns);
  const auto [low, high] = std::ranges::minmax(drawn);
  const auto x_of = [&](double share) { return spark_margin + share * (spark_width - 2 * spark_margin); };
  std::string points;
  double x = 0, y = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const double share = high > low ? (drawn[i] - low) / (high - low) : 0.5;
    x = x_of(drawn.size() == 1 ? 1 : static_cast<double>(i) / static_cast<double>(drawn.size() - 1));
    y = spark_height - spark_margin - share * (spark_height - 2 * spark_margin);
    points += fmt::format("{}{:.1f},{:.1f}", i == 0 ? "" : " ", x, y);
  }
  std::string svg =
      fmt::format("<svg class=\"spark\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" aria-hidden=\"true\">",
                  spark_width, spark_height);
  for (const HistoryChange& change : history.changes) {
    const double share = static_cast<double>(change.point.index) / static_cast<double>(values.size() - 1);
    svg += fmt::format("<path class=\"{}\" d=\"M{:.1f} 0V{}\"/>", change.worse ? "bad" : "good", x_of(share),
                       spark_height);
  }
  return svg +
         fmt::format("<polyline points=\"{}\"/><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"/></svg>", points, x, y);
}

std::string state_badge(const History& history) {
  const SeriesState state = state_of(history);
  return fmt::format("<span class=\"badge {}\">{}</span>", state.tone, state.word);
}

std::string matrix_cell(const SiteSeries* series) {
  if (series == nullptr) return "<td class=\"none\">–</td>";
  const History& history = series->history;
  std::string cell = fmt::format("<td><a href=\"{}\">{}</a> {}{}", address_of_series(*series),
                                 escaped(last_figure(history)), state_badge(history), spark_line(history));
  if (!history.changes.empty()) {
    const HistoryChange& last = history.changes.back();
    cell += fmt::format("<span class=\"sub\">{} since {}</span>", escaped(change_text(history, last)),
                        site_day(history.figures.at(last.point.index).created_at));
  }
  return cell + fmt::format("<span class=\"sub\">{}, last {}</span></td>", counted(history.figures.size(), "run"),
                            site_day(history.figures.back().created_at));
}

// Those of one metric: subjects by machines.
std::string matrix(const Site& site, std::string_view metric) {
  std::map<std::string_view, std::map<std::string_view, const SiteSeries*>> rows;
  for (const SiteSeries& series : site.series) {
    if (series.history.metric == metric) rows[series.history.series][series.history.machine] = &series;
  }
  std::string table = "<thead><tr><th scope=\"col\">Subject</th>";
  for (const MachineName& machine : site.machines) {
    table += fmt::format("<th scope=\"col\">{}<span class=\"sub\">{}</span><span class=\"sub\">{}</span></th>",
                         site_text(machine_called(site, machine.machine)), site_text(machine.processor, 60),
                         site_text(machine.machine, 16));
  }
  table += "</tr></thead>\n<tbody>\n";
  for (const auto& [name, by_machine] : rows) {
    table += fmt::format("<tr><th scope=\"row\"><bdi class=\"name\">{}</bdi></th>", site_text(name, 200));
    for (const MachineName& machine : site.machines) {
      const auto found = by_machine.find(machine.machine);
      table += matrix_cell(found == by_machine.end() ? nullptr : found->second);
    }
    table += "</tr>\n";
  }
  const std::string title = metric_name(metric);
  return section_of("metric-" + std::string(metric), title, scrolling_table(title, "matrix", table + "</tbody>\n"));
}

std::string changes_section(const Site& site) {
  const auto changes = newest_changes(site, newest_shown);
  std::string list = changes.empty() ? "<p>No series has changed its level.</p>\n" : "<ul class=\"changes\">\n";
  for (const SiteChange& each : changes) {
    list += fmt::format("<li><span class=\"badge {}\">{}</span> {} <a href=\"{}\">{}</a></li>\n",
                        each.change->worse ? "bad" : "good", each.change->worse ? "worse" : "better",
                        site_day(each.first().created_at), address_of_series(*each.series),
                        site_text(change_title(site, each)));
  }
  if (!changes.empty()) list += "</ul>\n";
  return section_of("changes", "Newest changes", list);
}

std::string run_link(const SiteRun& run, std::string_view up) {
  return fmt::format("<a href=\"{}{}\">{}</a>", up, run.page, site_text(run.id, 60));
}

std::string run_rows(std::span<const SiteRun> runs) {
  std::string rows =
      "<thead><tr><th scope=\"col\">Run</th><th scope=\"col\">Begun (UTC)</th><th scope=\"col\">Subjects</th>"
      "<th scope=\"col\">Against the one before</th></tr></thead>\n<tbody>\n";
  for (const SiteRun& run : runs) {
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td><span class=\"labels\">{}</span>",
                        run_link(run, ""), site_minute(run.created_at), run_labels(run.labels));
    for (const std::string& tag : run.tags)
      rows += fmt::format(" <span class=\"badge\">{}</span>", site_text(tag, 100));
    if (!run.note.empty()) rows += fmt::format("<span class=\"sub labels\">{}</span>", site_text(run.note, 300));
    rows += fmt::format("</td><td>{}</td></tr>\n", run.before.empty() ? "–" : command_between(run.before, run.id));
  }
  return rows + "</tbody>\n";
}

const char* const no_confirmation =
    "measure the two builds side by side; where both are still there, `infermeter history` on that machine has the "
    "command";

const char* const how_to_compare =
    "<p>Any two runs of one store are compared by <code>infermeter compare RUN RUN</code>, with <code>--html "
    "FILE</code> as a page.</p>\n";

std::string runs_section(const Site& site) {
  const std::span newest = std::span(site.runs).first(std::min(site.runs.size(), newest_shown));
  return section_of("runs", "Newest runs",
                    scrolling_table("Newest runs", "runs", run_rows(newest)) +
                        "<p><a href=\"runs.html\">All runs</a></p>\n" + how_to_compare);
}

std::vector<std::string> metrics_of(const Site& site) {
  std::vector<std::string> metrics;
  for (const SiteSeries& series : site.series) {
    if (std::ranges::find(metrics, series.history.metric) == metrics.end()) metrics.push_back(series.history.metric);
  }
  return metrics;
}

std::string summary_text(const Site& site) {
  const auto alarms =
      std::ranges::count_if(site.series, [](const SiteSeries& series) { return series.history.alarm() != nullptr; });
  std::string text = fmt::format("{} on {}", counted(site.series.size(), "series", "series"),
                                 counted(site.machines.size(), "machine"));
  text += alarms == 0 ? ", none with an alarm" : fmt::format(", {} with an alarm", alarms);
  if (!site.runs.empty()) text += fmt::format("; the last run began {} UTC", site_minute(site.runs.front().created_at));
  return text;
}

// Of one series: a link to each of its runs, which the points of the chart lead to as well
// (web/src/pictures/history.ts).
std::string series_runs(const Site& site, const SiteSeries& series) {
  std::map<std::string_view, const SiteRun*> known;
  for (const SiteRun& run : site.runs) known[run.id] = &run;
  std::string rows =
      "<thead><tr><th scope=\"col\">Run</th><th scope=\"col\">Begun (UTC)</th><th scope=\"col\">Value</th>"
      "<th scope=\"col\">Label</th></tr></thead>\n<tbody>\n";
  bool any = false;
  for (std::size_t i = series.history.figures.size(); i-- > 0;) {
    const Figure& figure = series.history.figures[i];
    const auto run = known.find(figure.run);
    if (run == known.end()) continue;
    any = true;
    rows += fmt::format(
        "<tr><th scope=\"row\"><a href=\"../{}\" data-run=\"{}\">{}</a></th><td>{}</td><td class=\"number\">{}</td>"
        "<td><bdi class=\"labels\">{}</bdi></td></tr>\n",
        run->second->page, i, site_text(figure.run, 60), site_minute(figure.created_at), escaped(figure_of(figure)),
        site_text(figure.label, 100));
  }
  if (!any) return section_of("series-runs", "Runs", "<p>None of its runs has a page.</p>\n");
  return section_of("series-runs", "Runs", scrolling_table("Runs", "runs", rows + "</tbody>\n"));
}

std::string badge_section(const Site& site, const SiteSeries& series) {
  const std::string badge = address_of_badge(series);
  const std::string markdown =
      fmt::format("[![{0}]({1}{2})]({1}{3})", series.history.metric, site.base_url, badge, address_of_series(series));
  return section_of("badge", "Badge",
                    fmt::format("<p><a href=\"../{}\">SVG</a>; as Markdown: <code>{}</code></p>\n", badge,
                                site_text(markdown, 1000)));
}

}  // namespace

std::string site_index(const Site& site) {
  std::string content;
  for (const std::string& metric : metrics_of(site)) content += matrix(site, metric);
  if (site.series.empty()) content += section_of("nothing", "Series", "<p>No finished run has figures yet.</p>\n");
  return whole_page(site, site.title, escaped(summary_text(site)),
                    content + changes_section(site) + runs_section(site));
}

std::string site_runs(const Site& site) {
  std::string content = scrolling_table("Runs", "runs", run_rows(site.runs)) + how_to_compare;
  if (site.without_page > 0) {
    content += fmt::format("<p>{} no page here; <code>infermeter report RUN --html FILE</code> writes one.</p>\n",
                           counted(site.without_page, "older run has", "older runs have"));
  }
  return whole_page(site, "Runs of " + site.title, counted(site.runs.size(), "run"),
                    section_of("runs", "The newest first", content));
}

std::string site_series_page(const Site& site, const SiteSeries& series) {
  const History& history = series.history;
  HistoryReport report{.metric = history.metric, .this_machine = {}, .machines = {}, .entries = {{history, {}}}};
  if (history.alarm() != nullptr) report.entries.front().confirmation = {.command = {}, .why_not = no_confirmation};
  const auto machine = std::ranges::find(site.machines, history.machine, &MachineName::machine);
  if (machine != site.machines.end()) report.machines.push_back(*machine);
  const ReportPart part = history_part(report);
  const PageFrame frame{
      .script = "../" + site.script,
      .style = "../" + site.style,
      .above = site_navigation(site, "../"),
      .below = "<div class=\"part pages\">\n" + series_runs(site, series) + badge_section(site, series) + "</div>\n"};
  const DocumentHead head{.title = fmt::format("{}: {}, {}", printable(history.series), metric_name(history.metric),
                                               machine_called(site, history.machine))};
  return render_html(std::span(&part, 1), head, frame);
}

PageFrame site_run_frame(const Site& site, const SiteRun& run) {
  std::string list;
  for (const std::size_t index : run.series) {
    const SiteSeries& series = site.series.at(index);
    list += fmt::format("<li><a href=\"../{}\">{}</a></li>\n", address_of_series(series),
                        site_text(fmt::format("{}: {}", series.history.series, metric_name(series.history.metric))));
  }
  std::string below;
  if (!list.empty()) below += section_of("site-series", "Its series over time", "<ul>\n" + list + "</ul>\n");
  std::string compare = how_to_compare;
  if (!run.before.empty()) {
    const auto before = std::ranges::find(site.runs, run.before, &SiteRun::id);
    compare = fmt::format("<p>The run of the same subjects before this one is {}: {}</p>\n",
                          before == site.runs.end() ? site_text(run.before, 60) : run_link(*before, "../"),
                          command_between(run.before, run.id)) +
              compare;
  }
  below += section_of("site-compare", "Compare", compare);
  return {.script = "../" + site.script,
          .style = "../" + site.style,
          .above = site_navigation(site, "../"),
          .below = "<div class=\"part pages\">\n" + below + "</div>\n"};
}

std::string site_run_page(const ReportPart& part, const PageFrame& frame) {
  return render_html(std::span(&part, 1), {}, frame);
}

}  // namespace infermeter
