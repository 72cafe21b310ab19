// The options of this back end.
#pragma once

#include <span>
#include <string>

#include "http/place.hpp"

namespace infermeter {

enum class ProtocolName { http, grpc };
enum class TensorForm { automatic, binary, json };

struct Settings {
  ServerOptions server{};
  std::string model_version{};
  ProtocolName protocol = ProtocolName::http;
  TensorForm tensors = TensorForm::automatic;
};

[[nodiscard]] std::span<const OptionRow<Settings>> option_rows();

}  // namespace infermeter
