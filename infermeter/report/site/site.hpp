// The pages of a site: static files that show what a store holds, an index, a page for each series and each run, badges
// and a feed (docs/publish.md). Pure: the same site gives the same bytes. All links are relative, so that it works from
// disk; no page asks for anything but the site's own script and style.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/report/forms/render_document.hpp"
#include "infermeter/verdict/history.hpp"

namespace infermeter {

// A finished run that has a page.
struct SiteRun {
  std::string id;
  double created_at = 0;  // seconds since 1970, UTC
  std::vector<std::string> labels{}, tags{};
  std::string note{};
  std::string page;                   // its file: "runs/20261121-114200-3f9a.html"
  std::string before{};               // id of the finished run of the same labels before it; empty: there is none
  std::vector<std::size_t> series{};  // that its figures are of, indices into Site::series
};

// One metric of one subject on one machine.
struct SiteSeries {
  History history;
  std::string name;  // of its files: series/NAME.html, badges/NAME.svg
};

struct Site {
  std::string title;
  std::string base_url{};               // with '/' at its end; empty: the feed's links are relative as well
  std::string feed_id;                  // an IRI that stays
  std::string script, style;            // files
  std::vector<MachineName> machines{};  // in the order of their columns
  std::vector<SiteSeries> series{};     // those of one metric stand together
  std::vector<SiteRun> runs{};          // the newest first
  std::size_t without_page = 0;         // older finished runs
};

[[nodiscard]] std::string site_index(const Site& site);
[[nodiscard]] std::string site_runs(const Site& site);  // a table of all that have a page
[[nodiscard]] std::string site_series_page(const Site& site, const SiteSeries& series);
// What stands around a run's report, and the page as a whole.
[[nodiscard]] PageFrame site_run_frame(const Site& site, const SiteRun& run);
[[nodiscard]] std::string site_run_page(const ReportPart& part, const PageFrame& frame);

// An SVG image: the series, its last figure with its interval, its state.
[[nodiscard]] std::string site_badge(const History& history);
// The newest changes of all series, as an Atom feed (RFC 4287).
[[nodiscard]] std::string site_feed(const Site& site);

}  // namespace infermeter
