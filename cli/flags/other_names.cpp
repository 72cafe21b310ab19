#include "cli/flags/other_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "infermeter/plan/setting.hpp"

namespace infermeter {
namespace {

constexpr const char* kGroup = "Other names, of earlier tools";
constexpr std::string_view kFormat = "format", kPage = "--generate-html";

struct OtherName {
  std::string_view flag;
  std::string_view key;      // of the setting
  std::string_view value{};  // what the flag stands for; empty: it takes one
  std::string_view help{};   // empty: the flag that it is
};

constexpr auto kNames = std::to_array<OtherName>({
    {"--framework", "backends", "", "--backend. Without --batch-sizes: 1 8 32 128, as in the earlier tool."},
    {"--dataset", "data"},
    {"--validation-data", "data"},
    {"--batch-size", "batch_sizes"},
    {"--num-runs", "iterations"},
    {"--save-dir", "output_dir"},
    {"--use-cuda", "device", "cuda", "--device cuda; an error where there is none."},
    {"--profiler", "python_profiler", "",
     "torch: the runtime's own profile; cprofile, pyinstrument: --python-profiler."},
    {"--report-format", kFormat, "", "--format; html: the page, in --output-dir."},
    {kPage, kFormat, "html", "The page comparison.html, in the folder of --output, or in --output-dir."},
});

bool is_page(const OtherName& name, const std::vector<std::string>& values) {
  return name.key == kFormat && values == std::vector<std::string>{"html"};
}

std::string in_our_words(const OtherName& name, std::string value) {
  if (name.key != "python_profiler") return value;
  if (value == "torch") return "off";
  return value == "cProfile" ? "cprofile" : value;
}

}  // namespace

void OtherNames::declare(CLI::App& app, const Values& values) {
  for (const OtherName& name : kNames) {
    if (!values.contains(name.key)) continue;
    std::vector<std::string>& given = given_[name.flag];
    const std::string help =
        name.help.empty() ? fmt::format("--{}.", find_setting(name.key)->flag) : std::string(name.help);
    if (!name.value.empty()) {
      app.add_flag_callback(
             std::string(name.flag), [&given, &name] { given = {std::string(name.value)}; }, help)
          ->group(kGroup);
      continue;
    }
    CLI::Option* option = app.add_option(std::string(name.flag), given, help)->type_name("")->group(kGroup);
    const bool is_list = find_setting(name.key)->shape == Setting::Shape::list;
    option->expected(1, is_list ? CLI::detail::expected_max_vector_size : 1)->allow_extra_args(is_list);
    if (!is_list) option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

Result<Done> OtherNames::add_to(Values& values) const {
  for (const OtherName& name : kNames) {
    const auto given = given_.find(name.flag);
    if (given == given_.end() || given->second.empty() || is_page(name, given->second)) continue;
    std::vector<std::string>& ours = values[name.key];
    if (!ours.empty() && name.key != "backends") {
      return usage_error(fmt::format("{} is --{}: give one of them", name.flag, find_setting(name.key)->flag));
    }
    for (const std::string& value : given->second) ours.push_back(in_our_words(name, value));
  }
  return Done{};
}

bool OtherNames::wants_page() const {
  return std::ranges::any_of(kNames, [this](const OtherName& name) {
    const auto given = given_.find(name.flag);
    return given != given_.end() && is_page(name, given->second);
  });
}

std::string OtherNames::save_dir() const { return has("--save-dir") ? given_.at("--save-dir").back() : ""; }

bool OtherNames::has(std::string_view flag) const {
  const auto given = given_.find(flag);
  return given != given_.end() && !given->second.empty();
}

}  // namespace infermeter
