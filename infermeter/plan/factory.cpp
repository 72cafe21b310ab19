#include <algorithm>

#include "infermeter/plan/subject.hpp"

namespace infermeter {
namespace {

constexpr std::string_view kPythonEnding = ".py";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_module(std::string_view text) {
  for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.')) {
    if (!is_identifier(text.substr(0, dot))) return false;
    text.remove_prefix(dot + 1);
  }
  return is_identifier(text);
}

bool is_python_file(std::string_view text) {
  if (!text.ends_with(kPythonEnding)) return false;
  text.remove_suffix(kPythonEnding.size());
  return !text.empty() && text.back() != '/';
}

}  // namespace

std::optional<Factory> factory_from_string(std::string_view model) {
  const std::size_t colon = model.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const Factory factory{.source = model.substr(0, colon),
                        .name = model.substr(colon + 1),
                        .is_file = is_python_file(model.substr(0, colon))};
  if (!is_identifier(factory.name) || (!factory.is_file && !is_module(factory.source))) return std::nullopt;
  return factory;
}

bool is_factory(std::string_view model) { return factory_from_string(model).has_value(); }

bool is_folder_config(std::string_view path) {
  return path.ends_with(kFolderConfig) && path.size() > kFolderConfig.size() &&
         path[path.size() - kFolderConfig.size() - 1] == '/';
}

std::string last_name_of(std::string_view path) {
  std::string_view name = path;
  if (is_folder_config(name) && name.size() > kFolderConfig.size() + 1) name.remove_suffix(kFolderConfig.size() + 1);
  const std::size_t slash = name.rfind('/');
  return std::string(slash == std::string_view::npos || slash + 1 == name.size() ? name : name.substr(slash + 1));
}

}  // namespace infermeter
