#include "infermeter/run/trial_failure.hpp"

#include <fmt/format.h>

namespace infermeter {
namespace {

ErrorKind kind_of(const Samples& trial) {
  if (trial.usage) return ErrorKind::usage;
  switch (trial.end) {
    case TrialEnd::load_failed:
    case TrialEnd::run_failed: return ErrorKind::model;
    case TrialEnd::crashed:
    case TrialEnd::timeout:
    case TrialEnd::out_of_memory: return ErrorKind::worker;
    case TrialEnd::ok:
    case TrialEnd::interrupted: break;
  }
  return ErrorKind::internal;
}

}  // namespace

Error trial_failure(const Samples& trial, std::string_view label) {
  std::string message = fmt::format("{}: {} at {}", label, to_string(trial.end), to_string(trial.phase));
  if (!trial.message.empty()) message += ": " + trial.message;
  return {kind_of(trial), std::move(message)};
}

}  // namespace infermeter
