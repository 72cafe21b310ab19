#include "cli/flags/find_series.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "infermeter/text/nearest.hpp"

namespace infermeter {
namespace {

constexpr std::size_t candidates_shown = 8;

using Names = std::set<std::string, std::less<>>;

bool has_part(const SeriesListing& listing, std::string_view part) {
  const auto holds = [&](const std::string& text) { return text.find(part) != std::string::npos; };
  return holds(listing.series) || std::ranges::any_of(listing.labels, holds);
}

template <class Fits>
Names names_that(const std::vector<SeriesListing>& series, const std::optional<std::string>& machine, Fits fits) {
  Names names;
  for (const SeriesListing& listing : series) {
    if ((!machine || listing.machine == *machine) && fits(listing)) names.insert(listing.series);
  }
  return names;
}

// The first way of being meant that any series is meant in.
Names meant(std::string_view part, const std::vector<SeriesListing>& series,
            const std::optional<std::string>& machine) {
  auto names = names_that(series, machine, [&](const SeriesListing& listing) { return listing.series == part; });
  if (!names.empty()) return names;
  names = names_that(series, machine, [&](const SeriesListing& listing) {
    return std::ranges::find(listing.labels, part) != listing.labels.end();
  });
  if (!names.empty()) return names;
  return names_that(series, machine, [&](const SeriesListing& listing) { return has_part(listing, part); });
}

Error ambiguous(std::string_view part, const Names& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() < candidates_shown) shown.push_back(name);
  }
  return usage_error(fmt::format("'{}' is in the names or labels of {} series: {}{}; give more of one of them",
                                 part.substr(0, 60), names.size(), fmt::join(shown, " "),
                                 names.size() > shown.size() ? " …" : ""));
}

Error not_found(std::string_view part, const std::vector<SeriesListing>& series,
                const std::optional<std::string>& machine) {
  if (const auto elsewhere = meant(part, series, std::nullopt); !elsewhere.empty()) {
    return usage_error(fmt::format("there is no series '{}' of this machine, but {} of others (--machine all)",
                                   part.substr(0, 60), elsewhere.size()));
  }
  const Names known = names_that(series, machine, [](const SeriesListing&) { return true; });
  const auto near = nearest_name(part, {known.begin(), known.end()});
  return usage_error(
      fmt::format("there is no series with '{}' in its name or a label{}; `infermeter history` lists them",
                  part.substr(0, 60), near ? fmt::format(" (did you mean '{}'?)", *near) : ""));
}

}  // namespace

Result<std::optional<std::string>> find_machine(std::string_view name, const std::string& this_machine,
                                                const std::vector<MachineName>& machines) {
  if (name == "this") return std::optional(this_machine);
  if (name == "all") return std::optional<std::string>();
  std::vector<std::string> found;
  for (const MachineName& machine : machines) {
    if (!name.empty() && machine.machine.starts_with(name)) found.push_back(machine.machine);
  }
  if (found.size() == 1) return std::optional(found.front());
  return usage_error(
      found.empty()
          ? fmt::format("there are no figures of a machine '{}' (--machine): this, all, or the beginning of a "
                        "fingerprint, which --machine all shows",
                        name.substr(0, 60))
          : fmt::format("'{}' (--machine) is the beginning of {} fingerprints: {}", name, found.size(),
                        fmt::join(found, " ")));
}

Result<std::optional<std::string>> find_series(std::string_view part, const std::vector<SeriesListing>& series,
                                               const std::optional<std::string>& machine) {
  const Names names = meant(part, series, machine);
  if (names.empty()) return not_found(part, series, machine);
  if (names.size() > 1) return ambiguous(part, names);
  return std::optional(*names.begin());
}

}  // namespace infermeter
