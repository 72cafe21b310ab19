// The options of this back end. `token_file` and `token_variable` are the host's to act on: it hands the token over.
#pragma once

#include <span>
#include <string>

#include "sdk/options.hpp"

namespace infermeter {

enum class TensorForm { automatic, binary, json };

struct Settings {
  std::string url{};  // without a '/' at its end
  std::string model_version{};
  TensorForm tensors = TensorForm::automatic;
  double timeout_s = 60;
  std::string certificates{};  // a file; empty: the system's
  bool verify = true;
};

[[nodiscard]] std::span<const OptionRow<Settings>> option_rows();

}  // namespace infermeter
