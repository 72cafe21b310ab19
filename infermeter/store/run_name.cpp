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

Result<std::string> find_run(std::string_view name, const std::vector<std::string>& ids, std::string_view store) {
  if (ids.empty()) {
    return usage_error(fmt::format("the store {} holds no runs yet: `infermeter run` makes one", store));
  }
  if (name == "latest") return ids.back();
  if (name == "previous") {
    if (ids.size() > 1) return ids[ids.size() - 2];
    return usage_error(fmt::format("there is no run before the latest one in the store {}", store));
  }
  if (std::find(ids.begin(), ids.end(), name) != ids.end()) return std::string(name);
  std::vector<std::string> matches;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(matches),
               [&](const std::string& id) { return !name.empty() && id.starts_with(name); });
  if (matches.size() == 1) return matches.front();
  if (matches.empty()) {
    return usage_error(fmt::format("there is no run '{}' in the store {}: `infermeter runs` lists them, 'latest' is {}",
                                   shown_name(name), store, ids.back()));
  }
  const bool more = matches.size() > candidates_shown;
  const auto count = matches.size();
  if (more) matches.resize(candidates_shown);
  return usage_error(fmt::format("'{}' is the beginning of {} runs: {}{}; give more of the id", shown_name(name), count,
                                 fmt::join(matches, ", "), more ? ", ..." : ""));
}

}  // namespace infermeter
