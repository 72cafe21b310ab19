#include "infermeter/verdict/sandbox_in_force.hpp"

#include <algorithm>

namespace infermeter {

std::string sandbox_in_force(Sandbox asked, std::span<const Diagnostic> diagnostics) {
  const auto has = [&](DiagnosticId id) {
    return std::ranges::find(diagnostics, id, &Diagnostic::id) != diagnostics.end();
  };
  std::string level(to_string(asked));
  if (has(DiagnosticId::no_landlock))
    level += " without Landlock";
  else if (has(DiagnosticId::no_seccomp))
    level += " without seccomp";
  return level;
}

}  // namespace infermeter
