// HttpQueue and HttpExchange against a socket of our own.
#include "http/http.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace infermeter {
namespace {

constexpr std::int64_t millisecond_ns = 1'000'000;

// One connection after the other, served by the test itself.
class Listener {
 public:
  Listener() : listening_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listening_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listening_, 1), 0);
    EXPECT_EQ(getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    if (accepted_ >= 0) close(accepted_);
    close(listening_);
  }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // Reads until the headers of a request have ended.
  void read_request() {
    if (accepted_ < 0) accepted_ = accept(listening_, nullptr, nullptr);
    std::string all;
    std::array<char, 4096> some{};
    while (!all.ends_with("\r\n\r\n")) {
      const ssize_t got = read(accepted_, some.data(), some.size());
      ASSERT_GT(got, 0);
      all.append(some.data(), static_cast<std::size_t>(got));
    }
  }
  void send(std::string_view text) { ASSERT_EQ(::send(accepted_, text.data(), text.size(), 0), std::ssize(text)); }

 private:
  int listening_, accepted_ = -1;
  int port_ = 0;
};

class Moments final : public BodySink {
 public:
  void take(std::string_view bytes, std::int64_t moment_ns) override {
    text += bytes;
    last_ns = moment_ns;
  }
  std::string text;
  std::int64_t last_ns = 0;
};

// Has the rest of an answer sent while its begin is read.
class SendsTheRest final : public BodySink {
 public:
  explicit SendsTheRest(Listener& listener) : listener_(listener) {}
  void take(std::string_view bytes, std::int64_t moment_ns) override {
    text += bytes;
    last_ns = moment_ns;
    if (text != "ab") return;
    sent_ns = monotonic_ns();
    listener_.send("cd");
  }
  std::string text;
  std::int64_t last_ns = 0, sent_ns = 0;

 private:
  Listener& listener_;
};

void pass(std::int64_t duration_ns) {
  const std::int64_t until_ns = monotonic_ns() + duration_ns;
  while (monotonic_ns() < until_ns) {
  }
}

class HttpQueueTest : public testing::Test {
 protected:
  // The answer is read so much later than it was sent. Both moments: around its sending.
  std::pair<std::int64_t, std::int64_t> ask(BodySink& sink, std::string_view answer, std::int64_t late_ns) {
    exchange_.set_sink(&sink);
    exchange_.start(queue_);
    // Connects and sends, which later requests do at once.
    for (int step = 0; is_first_ && step < 5; ++step) EXPECT_EQ(queue_->next(20 * millisecond_ns), nullptr);
    is_first_ = false;
    listener_.read_request();
    const std::int64_t before_ns = monotonic_ns();
    listener_.send(answer);
    const std::int64_t after_ns = monotonic_ns();
    pass(late_ns);
    EXPECT_EQ(queue_->next(10'000 * millisecond_ns), &exchange_);
    exchange_.finish();
    exchange_.set_sink(nullptr);
    return {before_ns, after_ns};
  }

  Listener listener_;
  const HttpPlace place_{.url = listener_.url()};
  HttpExchange exchange_{(start_libcurl(), place_), "/"};
  std::shared_ptr<HttpQueue> queue_ = std::make_shared<HttpQueue>();
  bool is_first_ = true;
};

// The kernel begins to stamp some milliseconds after it was asked to, so that the first answer may come too early.
TEST_F(HttpQueueTest, AnswersAreOfTheMomentTheyCameAndNotOfTheirReading) {
  for (int i = 0; i < 3; ++i) {
    Moments moments;
    const auto [before_ns, after_ns] =
        ask(moments, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", 200 * millisecond_ns);
    EXPECT_EQ(moments.text, "ab");
    EXPECT_GE(exchange_.ended_ns(), before_ns);
    EXPECT_EQ(exchange_.ended_ns(), moments.last_ns);
    if (i > 0) EXPECT_LT(exchange_.ended_ns(), after_ns + 100 * millisecond_ns);
  }
}

TEST_F(HttpQueueTest, WhatComesWhileAnAnswerIsReadIsNotTakenForOlder) {
  for (int i = 0; i < 3; ++i) {
    SendsTheRest sink(listener_);
    ask(sink, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab", 20 * millisecond_ns);
    EXPECT_EQ(sink.text, "abcd");
    EXPECT_GE(sink.last_ns, sink.sent_ns);
    EXPECT_GE(exchange_.ended_ns(), sink.last_ns);
  }
}

}  // namespace
}  // namespace infermeter
