// null_server [PORT]: a server of the Open Inference Protocol over HTTP that does nothing: one model, "null", whose
// answer to anything is the same 4 KB of float32. One thread for all connections; it prints its port and ends at the
// end of its input. What a client gets from it is what the client and the loopback can do.
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

#include "bench/loopback.hpp"

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

class Server {
 public:
  bool listen_at(int port) {
    listener_ = listen_on_loopback(port);
    if (listener_ < 0) return false;
    poll_ = epoll_create1(0);
    watch(poll_, listener_);
    watch(poll_, STDIN_FILENO);
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
        if (descriptor == listener_) {
          take_connection(listener_, poll_);
        } else {
          receive(descriptor);
        }
      }
    }
  }

 private:
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
