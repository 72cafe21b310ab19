// What the launcher finds out for a worker that measures a server (plan/server_url.hpp), which can do neither itself.
#pragma once

#include <string>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

struct ServerAccess {
  std::string addresses{};  // of the URL's host (wall/server_addresses.hpp)
  std::string token{};      // empty: none. It goes to the worker and nowhere else
};
// Resolves names, which may wait for the network, and reads the token's file or variable.
[[nodiscard]] Result<ServerAccess> access_to_server(const Subject& subject);

}  // namespace infermeter
