// The options of this back end.
#pragma once

#include <span>
#include <string>

#include "http/place.hpp"

namespace infermeter {

enum class TensorForm { automatic, binary, json };

struct Settings {
  ServerOptions server{};
  std::string model_version{};
  TensorForm tensors = TensorForm::automatic;
};

[[nodiscard]] std::span<const OptionRow<Settings>> option_rows();

}  // namespace infermeter
