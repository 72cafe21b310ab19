#include "infermeter/worker/wall/server_addresses.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>

namespace infermeter {
namespace {

constexpr std::size_t most_addresses = 8;

// The compiler knows no aliasing of the kinds of sockaddr: copies are safe.
template <class Address>
Address as(const SocketAddress& address) {
  Address copy{};
  std::memcpy(&copy, &address.storage, sizeof copy);
  return copy;
}

SocketAddress address_from(const void* bytes, std::size_t size) {
  SocketAddress address;
  std::memcpy(&address.storage, bytes, std::min(size, sizeof address.storage));
  address.size = static_cast<socklen_t>(size);
  return address;
}

std::string address_text(const SocketAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.storage.ss_family == AF_INET) {
    const auto four = as<sockaddr_in>(address);
    inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
    return fmt::format("{}:{}", text.data(), ntohs(four.sin_port));
  }
  const auto six = as<sockaddr_in6>(address);
  inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
  return fmt::format("[{}]:{}", text.data(), ntohs(six.sin6_port));
}

void add_address(std::vector<SocketAddress>& addresses, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return;
  std::uint16_t port = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + colon + 1, last, port);
  if (error != std::errc{} || end != last || port == 0) return;
  std::string host(text.substr(0, colon));
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    if (inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) addresses.push_back(address_from(&six, sizeof six));
  } else {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    if (inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) addresses.push_back(address_from(&four, sizeof four));
  }
}

}  // namespace

Result<std::vector<SocketAddress>> addresses_of_host(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  if (status != 0)
    return usage_error(fmt::format("the host '{}' cannot be resolved ({}): look at url=", host, gai_strerror(status)));
  std::vector<SocketAddress> addresses;
  for (const addrinfo* each = found; each != nullptr && addresses.size() < most_addresses; each = each->ai_next)
    if (each->ai_family == AF_INET || each->ai_family == AF_INET6)
      addresses.push_back(address_from(each->ai_addr, each->ai_addrlen));
  if (addresses.empty())
    return usage_error(fmt::format("the host '{}' has no IPv4 or IPv6 address: look at url=", host));
  return addresses;
}

std::string addresses_to_string(const std::vector<SocketAddress>& addresses) {
  std::string text;
  for (const SocketAddress& address : addresses) text += (text.empty() ? "" : ",") + address_text(address);
  return text;
}

std::vector<SocketAddress> addresses_from_string(std::string_view text) {
  std::vector<SocketAddress> addresses;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    add_address(addresses, text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return addresses;
}

bool is_same_place(const SocketAddress& one, const SocketAddress& other) {
  const auto family = one.storage.ss_family;
  if (family != other.storage.ss_family) return false;
  if (family == AF_INET && one.size >= sizeof(sockaddr_in) && other.size >= sizeof(sockaddr_in)) {
    const auto a = as<sockaddr_in>(one), b = as<sockaddr_in>(other);
    return a.sin_port == b.sin_port && a.sin_addr.s_addr == b.sin_addr.s_addr;
  }
  if (family != AF_INET6 || one.size < sizeof(sockaddr_in6) || other.size < sizeof(sockaddr_in6)) return false;
  const auto a = as<sockaddr_in6>(one), b = as<sockaddr_in6>(other);
  return a.sin6_port == b.sin6_port && std::memcmp(&a.sin6_addr, &b.sin6_addr, sizeof a.sin6_addr) == 0;
}

}  // namespace infermeter
