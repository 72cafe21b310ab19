#include "settings.hpp"

namespace infermeter {
namespace {

using Text = std::string_view;

constexpr std::array<std::pair<Text, TensorForm>, 3> forms = {
    {{"auto", TensorForm::automatic}, {"binary", TensorForm::binary}, {"json", TensorForm::json}}};

constexpr std::array<std::pair<Text, ProtocolName>, 2> protocols = {
    {{"http", ProtocolName::http}, {"grpc", ProtocolName::grpc}}};

}  // namespace

std::span<const OptionRow<Settings>> option_rows() {
  static const std::vector<OptionRow<Settings>> rows = rows_with_server<Settings>(
      "http://HOST:PORT", {{{"model_version", "TEXT", "of the model on the server; default: the server's choice"},
                            [](Settings& s, Text v) { s.model_version = v; }},
                           {{"protocol", "http|grpc", "default http: JSON over HTTP/1.1; grpc: protobuf over HTTP/2"},
                            [](Settings& s, Text v) { s.protocol = parse_choice(v, protocols); }},
                           {{"tensors", "auto|binary|json",
                             "how tensors are sent; default auto: binary where the server says that it takes them"},
                            [](Settings& s, Text v) { s.tensors = parse_choice(v, forms); }}});
  return rows;
}

}  // namespace infermeter
