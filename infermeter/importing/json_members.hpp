// What a JSON object from outside has.
#pragma once

#include <nlohmann/json.hpp>

namespace infermeter {

// null where there is no such member, or no object.
[[nodiscard]] inline const nlohmann::json& member_of(const nlohmann::json& object, const char* key) {
  static const nlohmann::json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found == object.end() ? nothing : *found;
}

}  // namespace infermeter
