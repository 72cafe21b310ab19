#include "cli/check_subjects.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "infermeter/diagnostics/nearest.hpp"

namespace infermeter {
namespace {

constexpr std::string_view kOurKeys[] = {"batch", "dtype", "device", "threads", "library"};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool asks_for_more_than_defaults(const Subject& subject) {
  return !subject.options.empty() || subject.device != "auto" || subject.dtype != Precision::float32 ||
         !subject.backend_library.empty();
}

Result<Done> check_options(const Subject& subject, const BackendInfo& info) {
  std::vector<std::string> keys;
  for (const BackendOption& option : info.options) keys.push_back(option.key);
  for (const auto& [key, value] : subject.options) {
    if (contains(keys, key)) continue;
    std::vector<std::string> candidates = keys;
    candidates.insert(candidates.end(), std::begin(kOurKeys), std::end(kOurKeys));
    return usage_error(
        fmt::format("subject '{}': back end {} has no option '{}'{}; `infermeter backends {}` lists them",
                    subject.label, subject.backend, key, did_you_mean(key, candidates), subject.backend));
  }
  return Done{};
}

Result<Done> check_against(const Subject& subject, const BackendInfo& info) {
  if (!info.error.empty()) {
    return usage_error(fmt::format("back end {} cannot be used: {}", subject.backend, info.error));
  }
  if (subject.device != "auto" && !contains(info.devices, subject.device)) {
    return usage_error(fmt::format("subject '{}': back end {} has no device '{}'{}; here it has {}", subject.label,
                                   subject.backend, subject.device,
                                   is_kind_of_device(subject.device) ? "" : did_you_mean(subject.device, info.devices),
                                   fmt::join(info.devices, ", ")));
  }
  const std::string dtype(to_string(subject.dtype));
  if (!contains(info.dtypes, dtype)) {
    return usage_error(fmt::format("subject '{}': back end {} cannot execute {} here, but {} (--dtype)", subject.label,
                                   subject.backend, dtype, fmt::join(info.dtypes, ", ")));
  }
  return check_options(subject, info);
}

}  // namespace

Error unknown_backend(const std::string& name, const std::vector<std::string>& names) {
  if (names.empty()) {
    return usage_error(
        fmt::format("unknown back end '{}': no back end was found at all; --backend-path names the folder "
                    "of infermeter_backend_*.so",
                    name));
  }
  return usage_error(
      fmt::format("unknown back end '{}'{}; found: {}", name, did_you_mean(name, names), fmt::join(names, ", ")));
}

Result<Done> check_subjects(const Plan& plan, const Launcher& launcher) {
  const std::vector<std::string> names = backend_names(launcher);
  for (const Subject& subject : plan.subjects) {
    if (!contains(names, subject.backend)) return unknown_backend(subject.backend, names);
  }
  std::map<std::pair<std::string, std::string>, BackendInfo> probed;
  for (const Subject& subject : plan.subjects) {
    if (!asks_for_more_than_defaults(subject)) continue;
    const auto [place, is_new] = probed.try_emplace({subject.backend, subject.backend_library});
    if (is_new) place->second = probe_backend(launcher, subject.backend, subject.backend_library);
    INFERMETER_TRY_DONE(check_against(subject, place->second));
  }
  return Done{};
}

}  // namespace infermeter
