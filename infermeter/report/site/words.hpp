// What several files of a site say alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/report/site/site.hpp"

namespace infermeter {

struct SeriesState {
  std::string_view tone;  // "good", "bad", "faint": classes of the style
  std::string_view word;  // "alarm", "better", "steady", "too few runs"
};
[[nodiscard]] SeriesState state_of(const History& history);

// Text from outside as markup: controls are shown, what would be markup is not.
[[nodiscard]] std::string site_text(std::string_view text, std::size_t limit = 300);
[[nodiscard]] std::string site_day(double at);     // "2026-11-21"
[[nodiscard]] std::string site_minute(double at);  // "2026-11-21 11:42"

// "1.10 ms [1.09, 1.12]"; empty: there is no run.
[[nodiscard]] std::string last_figure(const History& history);
[[nodiscard]] std::string figure_of(const Figure& figure);
// "build-7", else the fingerprint's beginning.
[[nodiscard]] std::string machine_called(const Site& site, const std::string& machine);

// A change and where it is; the newest first.
struct SiteChange {
  const SiteSeries* series;
  const HistoryChange* change;
  [[nodiscard]] const Figure& first() const { return series->history.figures.at(change->point.index); }
};
[[nodiscard]] std::vector<SiteChange> newest_changes(const Site& site, std::size_t most);
// "mlp@fake on build-7: latency p50 10.0 % slower"
[[nodiscard]] std::string change_title(const Site& site, const SiteChange& change);

[[nodiscard]] std::string address_of_series(const SiteSeries& series);  // "series/NAME.html"
[[nodiscard]] std::string address_of_badge(const SiteSeries& series);

}  // namespace infermeter
