#include "model_list.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "http/json_text.hpp"
#include "sdk/abi_edge.hpp"

namespace infermeter {
namespace {

std::string string_in(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// llama.cpp's server lists other names of a model with it.
bool is_called(const nlohmann::json& listed, const std::string& model) {
  if (string_in(listed, "id") == model) return true;
  const auto aliases = listed.is_object() ? listed.find("aliases") : listed.end();
  return aliases != listed.end() && aliases->is_array() &&
         std::ranges::any_of(*aliases, [&](const nlohmann::json& alias) { return alias == model; });
}

}  // namespace

std::string owner_in(std::string_view body, const std::string& model) {
  constexpr std::size_t longest_owner = 80, most_named = 8;
  const nlohmann::json list = parse_bounded(body, "the server's list of models");
  if (!list.is_object() || !list.contains("data") || !list["data"].is_array()) return {};
  std::string others;
  std::size_t count = 0;
  for (const nlohmann::json& one : list["data"]) {
    if (is_called(one, model)) return string_in(one, "owned_by").substr(0, longest_owner);
    const std::string id = string_in(one, "id");
    if (id.empty() || ++count > most_named) continue;
    others += (others.empty() ? "" : ", ") + shown(id, 80);
  }
  if (count == 0) return {};
  fail(IMB_MODEL_ERROR,
       "the server has no model " + shown(model, 200) + "; it has " + others + (count > most_named ? ", …" : ""));
}

}  // namespace infermeter
