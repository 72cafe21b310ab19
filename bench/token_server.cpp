// token_server TTFT_S GAP_S [PORT]: a language model that is none. A server of OpenAI's protocol on the loopback that
// sends each token at its time: the first TTFT_S after the request was read, every other GAP_S later. It prints its
// port, sleeps until shortly before the next token is due and spins over the rest, in one thread for all connections;
// at the end of its input it ends and prints by how much it was late: tokens, median, p99 and maximum, in seconds.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "bench/loopback.hpp"

namespace {

constexpr std::int64_t spun_ns = 80'000, longest_sleep_ns = 100'000'000;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

struct Connection {
  std::string received;
  std::int64_t due_ns = 0;  // of the next token
  int left = 0;             // tokens of the answer that is being sent
  int tokens = 0, prompt_words = 0;
  bool is_chat = false, wants_usage = false;
};

struct Due {
  std::int64_t at_ns;
  int socket;
  friend bool operator>(const Due& a, const Due& b) { return a.at_ns > b.at_ns; }
};

std::string chunk_of(std::string_view event) {
  std::string data = "data: " + std::string(event) + "\n\n";
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", data.size());
  return size + data + "\r\n";
}

// The number behind a key of the request's JSON.
int number_of(std::string_view body, std::string_view key, int otherwise) {
  const std::size_t at = body.find('"' + std::string(key) + '"');
  if (at == std::string_view::npos) return otherwise;
  const std::size_t digits = body.find_first_of("0123456789", at + key.size() + 2);
  return digits == std::string_view::npos ? otherwise : std::atoi(std::string(body.substr(digits, 10)).c_str());
}

class Server {
 public:
  Server(double ttft_s, double gap_s)
      : ttft_ns_(static_cast<std::int64_t>(ttft_s * 1e9)), gap_ns_(static_cast<std::int64_t>(gap_s * 1e9)) {}

  bool listen_at(int port) {
    listener_ = listen_on_loopback(port);
    if (listener_ < 0) return false;
    poll_ = epoll_create1(0);
    watch(poll_, listener_);
    watch(poll_, STDIN_FILENO);
    return true;
  }

  void serve() {
    while (!ended_) {
      send_what_is_due();
      const std::int64_t left = due_.empty() ? longest_sleep_ns : due_.top().at_ns - now_ns();
      hear(std::clamp(left - spun_ns, std::int64_t{0}, longest_sleep_ns));
    }
    report_lateness();
  }

 private:
  void hear(std::int64_t wait_ns) {
    constexpr int most = 64;
    epoll_event events[most];
    const timespec wait{.tv_sec = wait_ns / 1'000'000'000, .tv_nsec = wait_ns % 1'000'000'000};
    const int count = epoll_pwait2(poll_, events, most, &wait, nullptr);
    for (int i = 0; i < count; ++i) {
      const int descriptor = events[i].data.fd;
      if (descriptor == listener_) {
        if (const int socket = take_connection(listener_, poll_); socket >= 0) connections_[socket] = {};
      } else if (descriptor == STDIN_FILENO) {
        ended_ = true;
      } else {
        receive(descriptor);
      }
    }
  }

  void receive(int socket) {
    char bytes[1 << 16];
    const ssize_t count = read(socket, bytes, sizeof bytes);
    if (count <= 0) {
      connections_.erase(socket);
      close(socket);
      return;
    }
    Connection& one = connections_[socket];
    one.received.append(bytes, static_cast<std::size_t>(count));
    const std::size_t head = one.received.find("\r\n\r\n");
    if (head == std::string::npos) return;
    const std::size_t length = content_length(std::string_view(one.received).substr(0, head));
    if (one.received.size() < head + 4 + length) return;
    answer(socket, one, one.received.substr(0, head), one.received.substr(head + 4, length));
    one.received.erase(0, head + 4 + length);
  }

  void answer(int socket, Connection& one, std::string_view head, std::string_view body) {
    if (!head.starts_with("POST")) {
      const std::string models =
          R"({"object":"list","data":[{"id":"steady","object":"model","owned_by":"known-times"}]})";
      return put(socket, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                             std::to_string(models.size()) + "\r\n\r\n" + models);
    }
    one.is_chat = head.substr(0, head.find('\r')).find("/chat/") != std::string_view::npos;
    one.tokens = one.left = number_of(body, "max_completion_tokens", number_of(body, "max_tokens", 16));
    one.wants_usage = body.find("include_usage") != std::string_view::npos;
    one.prompt_words = static_cast<int>(std::ranges::count(body, ' '));
    one.due_ns = now_ns() + ttft_ns_;
    put(socket, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    due_.push({one.due_ns, socket});
  }

  void send_what_is_due() {
    while (!due_.empty() && due_.top().at_ns - now_ns() <= spun_ns) {
      const Due next = due_.top();
      due_.pop();
      const auto found = connections_.find(next.socket);
      if (found == connections_.end() || found->second.due_ns != next.at_ns) continue;
      std::int64_t now = now_ns();
      while (now < next.at_ns) now = now_ns();
      late_ns_.push_back(now - next.at_ns);
      send_token(next.socket, found->second);
    }
  }

  void send_token(int socket, Connection& one) {
    const bool is_last = --one.left == 0;
    const std::string finish = is_last ? "\"length\"" : "null";
    const std::string kind = one.is_chat ? "chat.completion.chunk" : "text_completion";
    const std::string content = one.is_chat ? R"("delta":{"content":" word"})" : R"("text":" word")";
    const std::string begin = R"({"id":"1","object":")" + kind + R"(","model":"steady",)";
    std::string text =
        chunk_of(begin + R"("choices":[{"index":0,)" + content + R"(,"finish_reason":)" + finish + "}]}");
    if (is_last && one.wants_usage)
      text += chunk_of(begin + R"("choices":[],"usage":{"prompt_tokens":)" + std::to_string(one.prompt_words) +
                       R"(,"completion_tokens":)" + std::to_string(one.tokens) + R"(,"total_tokens":)" +
                       std::to_string(one.prompt_words + one.tokens) + "}}");
    if (is_last) text += chunk_of("[DONE]") + "0\r\n\r\n";
    put(socket, text);
    if (is_last) return;
    one.due_ns += gap_ns_;
    due_.push({one.due_ns, socket});
  }

  static void put(int socket, std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  void report_lateness() {
    if (late_ns_.empty()) return;
    std::ranges::sort(late_ns_);
    const auto at = [&](double share) {
      return static_cast<double>(late_ns_[static_cast<std::size_t>(share * static_cast<double>(late_ns_.size() - 1))]) /
             1e9;
    };
    std::printf("%zu %.9f %.9f %.9f\n", late_ns_.size(), at(0.5), at(0.99), at(1));
  }

  std::int64_t ttft_ns_, gap_ns_;
  int listener_ = -1, poll_ = -1;
  bool ended_ = false;
  std::map<int, Connection> connections_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<std::int64_t> late_ns_;
};

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::fprintf(stderr, "usage: token_server TTFT_S GAP_S [PORT]\n");
    return 2;
  }
  Server server(std::atof(words[1]), std::atof(words[2]));
  if (!server.listen_at(count > 3 ? std::atoi(words[3]) : 0)) {
    std::perror("token_server");
    return 1;
  }
  server.serve();
  return 0;
}
