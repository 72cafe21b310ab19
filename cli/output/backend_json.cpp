#include "cli/output/backend_json.hpp"

#include <nlohmann/json.hpp>

namespace infermeter {

nlohmann::ordered_json as_json(const BackendInfo& b) {
  auto options = nlohmann::ordered_json::array();
  for (const BackendOption& option : b.options) {
    options.push_back({{"key", option.key}, {"values", option.values}, {"help", option.help}});
  }
  return {{"name", b.name},
          {"usable", b.error.empty()},
          {"error", b.error},
          {"plugin", b.plugin},
          {"runtime", b.runtime_name},
          {"runtime_version", b.runtime_version},
          {"library", b.library},
          {"model_formats", b.model_formats},
          {"devices", b.devices},
          {"dtypes", b.dtypes},
          {"concurrent_requests", b.concurrent_requests},
          {"options", std::move(options)}};
}

nlohmann::ordered_json as_json(const std::vector<BackendInfo>& backends) {
  auto json = nlohmann::ordered_json::array();
  for (const BackendInfo& backend : backends) json.push_back(as_json(backend));
  return json;
}

}  // namespace infermeter
