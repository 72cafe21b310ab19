// Addresses of a server, as text and as the kernel has them. "127.0.0.1:8000,[::1]:8000"
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;  // bytes of it that are in use
};

// Asks the system's resolver, which may ask the network. At most eight, in the resolver's order; the error names the
// host.
[[nodiscard]] Result<std::vector<SocketAddress>> addresses_of_host(const std::string& host, std::uint16_t port);

[[nodiscard]] std::string addresses_to_string(const std::vector<SocketAddress>& addresses);
// What is no address is left out.
[[nodiscard]] std::vector<SocketAddress> addresses_from_string(std::string_view text);

// The same family, address and port of IPv4 or IPv6.
[[nodiscard]] bool is_same_place(const SocketAddress& one, const SocketAddress& other);

}  // namespace infermeter
