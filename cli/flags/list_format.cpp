#include "cli/flags/list_format.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace infermeter {

void ListFormat::declare(CLI::App& app) {
  app.add_option("--format", name, "table (default) or json.")->type_name("FORMAT")->group("Flags");
}

Result<bool> ListFormat::is_json() const {
  if (name == "json" || name == "table") return name == "json";
  return usage_error(fmt::format("unknown format '{}' (--format): there are table and json here", name));
}

std::string json_text(const nlohmann::ordered_json& json) {
  // What steers a terminal is beyond ASCII too.
  return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace infermeter
