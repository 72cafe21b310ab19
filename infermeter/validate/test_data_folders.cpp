#include "infermeter/validate/test_data_folders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace infermeter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "test_data_set_";

// test_data_set_10 comes after test_data_set_9.
bool by_number(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

std::vector<std::string> sets_in(const fs::path& folder) {
  std::vector<std::string> sets;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(kPrefix) && entry->is_directory(error)) sets.push_back(entry->path());
  }
  std::ranges::sort(sets, by_number);
  return sets;
}

}  // namespace

Result<std::vector<std::string>> test_data_folders(const std::string& data) {
  if (data == "synthetic")
    return usage_error(
        "validate needs recorded inputs and outputs: give --data FOLDER, or a second "
        "subject to compare with");
  std::error_code error;
  if (!fs::is_directory(data, error)) {
    return usage_error(fmt::format("--data: {} is not a folder; give one with input_*.pb and output_*.pb", data));
  }
  std::vector<std::string> sets = sets_in(data);
  if (sets.empty()) sets.push_back(data);
  return sets;
}

}  // namespace infermeter
