#include "infermeter/report/site/words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/report/forms/markup.hpp"
#include "infermeter/report/history/parts.hpp"
#include "infermeter/report/numbers/effect_text.hpp"
#include "infermeter/report/numbers/interval_text.hpp"
#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/text/utc_time.hpp"
#include "infermeter/verdict/answers/history_answer.hpp"

namespace infermeter {

SeriesState state_of(const History& history) {
  switch (history_answer(history, 0).kind) {
    case AnswerKind::worse: return {"bad", "alarm"};
    case AnswerKind::better: return {"good", "better"};
    case AnswerKind::steady: return {"good", "steady"};
    default: return {"faint", "too few runs"};
  }
}

std::string site_text(std::string_view text, std::size_t limit) { return escaped(printable(text, limit)); }

std::string site_day(double at) { return utc_time(at).substr(0, 10); }

std::string site_minute(double at) {
  std::string text = utc_time(at).substr(0, 16);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

std::string figure_of(const Figure& figure) {
  const MetricKind* kind = metric_kind(figure.metric);
  return with_interval(figure.value, figure.interval, figure_text(kind == nullptr ? "" : kind->unit));
}

std::string last_figure(const History& history) {
  return history.figures.empty() ? std::string() : figure_of(history.figures.back());
}

std::string machine_called(const Site& site, const std::string& machine) {
  const auto known = std::ranges::find(site.machines, machine, &MachineName::machine);
  const bool has_name = known != site.machines.end() && !known->hostname.empty();
  return printable(has_name ? known->hostname : machine, has_name ? 60 : 12);
}

std::vector<SiteChange> newest_changes(const Site& site, std::size_t most) {
  std::vector<SiteChange> changes;
  for (const SiteSeries& series : site.series) {
    for (const HistoryChange& change : series.history.changes) changes.push_back({&series, &change});
  }
  std::ranges::stable_sort(changes, std::ranges::greater{},
                           [](const SiteChange& one) { return one.first().created_at; });
  if (changes.size() > most) changes.resize(most);
  return changes;
}

std::string change_title(const Site& site, const SiteChange& change) {
  const History& history = change.series->history;
  return fmt::format("{} on {}: {} {}", printable(history.series, 200), machine_called(site, history.machine),
                     metric_name(history.metric), change_text(history, *change.change));
}

std::string address_of_series(const SiteSeries& series) { return fmt::format("series/{}.html", series.name); }
std::string address_of_badge(const SiteSeries& series) { return fmt::format("badges/{}.svg", series.name); }

}  // namespace infermeter
