#include "settings.hpp"

#include <cmath>
#include <cstdlib>

namespace infermeter {
namespace {

using Text = std::string_view;

constexpr std::array<std::pair<Text, TensorForm>, 3> forms = {
    {{"auto", TensorForm::automatic}, {"binary", TensorForm::binary}, {"json", TensorForm::json}}};

double parse_seconds(Text text) {
  const std::string copy(text);
  char* end = nullptr;
  const double seconds = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0') throw std::invalid_argument("");
  if (!std::isfinite(seconds) || seconds < 0.001 || seconds > 86400) {
    throw std::invalid_argument("it must be 0.001 to 86400");
  }
  return seconds;
}

std::string without_last_slashes(Text text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

const OptionRow<Settings> rows[] = {
    {{"url", "http://HOST:PORT", "where the server is; https, too"},
     [](Settings& s, Text v) { s.url = without_last_slashes(v); }},
    {{"model_version", "TEXT", "of the model on the server; default: the server's choice"},
     [](Settings& s, Text v) { s.model_version = v; }},
    {{"tensors", "auto|binary|json",
      "how tensors are sent; default auto: binary where the server says that it takes them"},
     [](Settings& s, Text v) { s.tensors = parse_choice(v, forms); }},
    {{"timeout", "SECONDS", "for one answer, with the connection; default 60"},
     [](Settings& s, Text v) { s.timeout_s = parse_seconds(v); }},
    {{"token_file", "FILE", "holds a token that goes with each request (Authorization: Bearer)"},
     [](Settings&, Text) {}},
    {{"token_variable", "NAME", "the environment variable that holds the token"}, [](Settings&, Text) {}},
    {{"ca", "FILE", "certificates (PEM) to trust; default: the system's"},
     [](Settings& s, Text v) { s.certificates = v; }},
    {{"verify", "true or false", "check the server's certificate; default true"},
     [](Settings& s, Text v) { s.verify = parse_bool(v); }},
};

}  // namespace

std::span<const OptionRow<Settings>> option_rows() { return rows; }

}  // namespace infermeter
