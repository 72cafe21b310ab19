// What servers of the benchmarks share: a socket on the loopback, and as much of HTTP as their clients send.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// Listens at `port`, 0: any, and prints which it is. -1: errno says why not.
inline int listen_on_loopback(int port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(static_cast<std::uint16_t>(port));
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  constexpr int waiting = 512;
  if (bind(listener, reinterpret_cast<sockaddr*>(&here), size) != 0 || listen(listener, waiting) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&here), &size) != 0)
    return -1;
  std::printf("%d\n", ntohs(here.sin_port));
  std::fflush(stdout);
  return listener;
}

inline void watch(int poll, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
}

// A connection that waits; watched. Negative: there is none.
inline int take_connection(int listener, int poll) {
  const int socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
  if (socket < 0) return socket;
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  watch(poll, socket);
  return socket;
}

inline std::size_t content_length(std::string_view head) {
  constexpr std::string_view name = "\r\ncontent-length:";
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  const auto* const found = std::search(head.begin(), head.end(), name.begin(), name.end(), same);
  return found == head.end() ? 0 : static_cast<std::size_t>(std::strtoul(found + name.size(), nullptr, 10));
}
