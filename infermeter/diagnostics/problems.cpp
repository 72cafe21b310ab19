#include "infermeter/diagnostics/problems.hpp"

#include <algorithm>

namespace infermeter {

void Problems::add(Error problem) {
  const auto same = [&](const Error& other) { return other.message == problem.message; };
  if (std::ranges::none_of(found_, same)) found_.push_back(std::move(problem));
}

void Problems::add_all(const Problems& others) {
  for (const Error& problem : others.found_) add(problem);
}

Result<Done> Problems::result(std::string_view so) const {
  if (found_.empty()) return Done{};
  if (found_.size() == 1) return found_.front();
  std::string list = std::to_string(found_.size()) + " problems, " + std::string(so) + ":";
  for (const Error& problem : found_) {
    std::string line = problem.message;
    std::ranges::replace(line, '\n', ' ');
    list += "\n- " + line;
  }
  return usage_error(std::move(list));
}

}  // namespace infermeter
