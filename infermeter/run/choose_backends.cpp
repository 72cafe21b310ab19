#include "infermeter/run/choose_backends.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "infermeter/models/resolve.hpp"
#include "infermeter/models/zoo/zoo.hpp"
#include "infermeter/plan/subject.hpp"
#include "infermeter/text/ascii.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

bool has_format(const BackendInfo& backend, const std::string& format) {
  return std::ranges::find(backend.model_formats, format) != backend.model_formats.end();
}

// The test instrument, which reads anything, is measured where it is asked for only.
bool reads_model(const BackendInfo& backend, const std::string& model) {
  if (!backend.error.empty()) return false;
  if (const auto entry = std::ranges::find(zoo(), model, &ZooModel::name); entry != zoo().end()) {
    if (entry->format == kFolderFormat) return has_format(backend, std::string(kFolderFormat));
    return has_format(backend, "zoo") || has_format(backend, "onnx");
  }
  if (has_format(backend, "workload:" + model)) return true;
  std::error_code error;
  if (!std::filesystem::exists(model, error) && is_factory(model)) return has_format(backend, "python");
  if (is_folder_config(model) || std::filesystem::exists(std::filesystem::path(model) / kFolderConfig, error))
    return has_format(backend, std::string(kFolderFormat));
  std::string ending = lowered(std::filesystem::path(model).extension().string());
  if (!ending.empty()) ending.erase(0, 1);
  if (ending.empty() || !has_format(backend, ending)) return false;
  return has_format(backend, "python") || !is_pickle_of_torch(model);
}

// A name that means nothing here: what reads it need not be asked.
bool is_unknown(const std::string& model) {
  std::error_code error;
  return std::ranges::find(zoo(), model, &ZooModel::name) == zoo().end() && !std::filesystem::exists(model, error) &&
         !is_factory(model);
}

}  // namespace

Result<ChosenBackends> backends_that_read(const std::vector<std::string>& models,
                                          const std::vector<BackendInfo>& backends) {
  ChosenBackends chosen;
  for (const BackendInfo& backend : backends) {
    const bool reads_all =
        std::ranges::all_of(models, [&](const std::string& model) { return reads_model(backend, model); });
    if (reads_all) chosen.names.push_back(backend.name);
  }
  const std::string shown = printable(fmt::format("{}", fmt::join(models, ", ")), 200);
  const auto unknown = std::ranges::find_if(models, is_unknown);
  if (chosen.names.empty()) {
    if (unknown != models.end()) return unknown_model(*unknown);
    return usage_error(fmt::format(
        "no back end here reads {}: name one with --backend; `infermeter backends` shows what each reads", shown));
  }
  const bool is_workload = std::ranges::any_of(backends, [&](const BackendInfo& backend) {
    return unknown != models.end() && has_format(backend, "workload:" + *unknown);
  });
  if (unknown == models.end() || is_workload) {
    chosen.note =
        fmt::format("{}: measured on {}, which read it (--backend names others)", shown, fmt::join(chosen.names, ", "));
  }
  return chosen;
}

}  // namespace infermeter
