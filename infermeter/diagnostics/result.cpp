#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return "usage";
    case ErrorKind::model: return "model";
    case ErrorKind::worker: return "worker";
    case ErrorKind::io: return "io";
    case ErrorKind::internal: return "internal";
  }
  return "internal";
}

}  // namespace infermeter
