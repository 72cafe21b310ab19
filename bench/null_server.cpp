// null_server [PORT]: a server of the Open Inference Protocol over HTTP that does nothing: one model, "null", whose
// answer to anything is the same 4 KB of float32. One thread for all connections; it prints its port and ends at the
// end of its input. What a client gets from it is what the client and the loopback can do.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>

namespace {

constexpr std::size_t elements = 1024;

std::string message(std::string_view type, std::string_view headers, std::string_view body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: " + std::string(type) + "\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

const std::string json = "application/json";
const std::string server_answer =
    message(json, "", R"({"name":"null","version":"1","extensions":["binary_tensor_data"]})");
const std::string model_answer = message(
    json, "",
    R"({"name":"null","versions":["1"],"platform":"none","inputs":[{"name":"x","datatype":"FP32","shape":[1,1024]}],)"
    R"("outputs":[{"name":"y","datatype":"FP32","shape":[1,1024]}]})");

std::string infer_answer() {
  const std::string head =
      R"({"model_name":"null","model_version":"1","outputs":[{"name":"y","datatype":"FP32","shape":[1,1024],)"
      R"("parameters":{"binary_data_size":4096}}]})";
  const std::array<float, elements> values{};
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), sizeof values);
  return message("application/octet-stream", "Inference-Header-Content-Length: " + std::to_string(head.size()) + "\r\n",
                 head + std::string(bytes));
}

std::size_t content_length(std::string_view head) {
  constexpr std::string_view name = "\r\ncontent-length:";
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  const auto* const found = std::search(head.begin(), head.end(), name.begin(), name.end(), same);
  return found == head.end() ? 0 : static_cast<std::size_t>(std::strtoul(found + name.size(), nullptr, 10));
}

class Server {
 public:
  bool listen_at(int port) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const int yes = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(static_cast<std::uint16_t>(port));
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    constexpr int waiting = 512;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&here), size) != 0 || listen(listener_, waiting) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&here), &size) != 0)
      return false;
    std::printf("%d\n", ntohs(here.sin_port));
    std::fflush(stdout);
    poll_ = epoll_create1(0);
    watch(listener_);
    watch(STDIN_FILENO);
    return true;
  }

  void serve() {
    constexpr int most = 128;
    std::array<epoll_event, most> events{};
    for (;;) {
      const int count = epoll_wait(poll_, events.data(), most, -1);
      for (int i = 0; i < count; ++i) {
        const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
        if (descriptor == STDIN_FILENO) return;
        descriptor == listener_ ? take_connection() : receive(descriptor);
      }
    }
  }

 private:
  void watch(int descriptor) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    epoll_ctl(poll_, EPOLL_CTL_ADD, descriptor, &event);
  }

  void take_connection() {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
    if (socket < 0) return;
    const int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    watch(socket);
  }

  void receive(int socket) {
    std::array<char, std::size_t{1} << 16> bytes;
    const ssize_t count = read(socket, bytes.data(), bytes.size());
    if (count < 0) return;
    if (count == 0) {
      received_.erase(socket);
      close(socket);
      return;
    }
    std::string& all = received_[socket];
    all.append(bytes.data(), static_cast<std::size_t>(count));
    constexpr std::string_view end = "\r\n\r\n";
    for (std::size_t head = all.find(end); head != std::string::npos; head = all.find(end)) {
      const std::size_t size = head + end.size() + content_length(std::string_view(all).substr(0, head));
      if (all.size() < size) return;
      answer(socket, std::string_view(all).substr(0, all.find('\r')));
      all.erase(0, size);
    }
  }

  static void answer(int socket, std::string_view first_line) {
    static const std::string inferred = infer_answer();
    const bool infers = first_line.find("/infer ") != std::string_view::npos;
    const bool asks_model = first_line.find("/models/") != std::string_view::npos;
    const std::string& text = infers ? inferred : asks_model ? model_answer : server_answer;
    if (send(socket, text.data(), text.size(), MSG_NOSIGNAL) < 0) std::perror("null_server");
  }

  int listener_ = -1, poll_ = -1;
  std::unordered_map<int, std::string> received_;
};

}  // namespace

int main(int count, char** words) {
  Server server;
  if (!server.listen_at(count > 1 ? std::atoi(words[1]) : 0)) {
    std::perror("null_server");
    return 1;
  }
  server.serve();
  return 0;
}
