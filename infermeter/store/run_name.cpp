#include "infermeter/store/run_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace infermeter {
namespace {

constexpr std::size_t candidates_shown = 5;

// What the user typed, short and on one line.
std::string shown_name(std::string_view name) {
  std::string text(name.substr(0, 60));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  }
  return name.size() > text.size() ? text + "..." : text;
}

}  // namespace

Result<std::string> find_run(std::string_view name, const std::vector<std::string>& newest,
                             std::vector<std::string> matches, std::string_view store) {
  if (newest.empty()) {
    return usage_error(fmt::format("the store {} contains no runs yet: `infermeter run` makes one", store));
  }
  if (name == "latest") return newest.front();
  if (name == "previous") {
    if (newest.size() > 1) return newest[1];
    return usage_error(fmt::format("there is no run before the latest one in the store {}", store));
  }
  if (name.empty()) matches.clear();
  if (matches.size() == 1) return matches.front();
  if (matches.empty()) {
    return usage_error(fmt::format("there is no run '{}' in the store {}: `infermeter runs` lists them, 'latest' is {}",
                                   shown_name(name), store, newest.front()));
  }
  const bool more = matches.size() > candidates_shown;
  const auto count = matches.size();
  if (more) matches.resize(candidates_shown);
  return usage_error(fmt::format("'{}' is the beginning of {} runs: {}{}; give more of the id", shown_name(name), count,
                                 fmt::join(matches, ", "), more ? ", ..." : ""));
}

}  // namespace infermeter
