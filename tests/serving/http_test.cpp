// HttpQueue, HttpExchange and Http1Answer, against a socket of our own.
#include "http/http.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "http/http1_answer.hpp"
#include "sdk/abi_edge.hpp"

namespace infermeter {
namespace {

constexpr std::int64_t millisecond_ns = 1'000'000;

void pass(std::int64_t duration_ns) {
  const std::int64_t until_ns = monotonic_ns() + duration_ns;
  while (monotonic_ns() < until_ns) {
  }
}

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
    for (const int left : left_) close(left);
    if (accepted_ >= 0) close(accepted_);
    close(listening_);
  }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // Reads until the headers of a request have ended, and what came with them.
  std::string read_request() {
    if (accepted_ < 0) accepted_ = accept(listening_, nullptr, nullptr);
    std::string all;
    while (all.find("\r\n\r\n") == std::string::npos) all += read_some();
    return all;
  }
  // "": the client has closed the connection.
  std::string read_some() {
    std::array<char, 4096> some{};
    const ssize_t got = read(accepted_, some.data(), some.size());
    EXPECT_GE(got, 0);
    return {some.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }
  void send(std::string_view text) { ASSERT_EQ(::send(accepted_, text.data(), text.size(), 0), std::ssize(text)); }
  // Until the client has closed the connection.
  void flood(std::string_view text) {
    while (::send(accepted_, text.data(), text.size(), MSG_NOSIGNAL) > 0) continue;
  }
  void hang_up() {
    close(accepted_);
    accepted_ = -1;
  }
  // By RST, which what was sent before may not outlive.
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    pass(50 * millisecond_ns);
    setsockopt(accepted_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    hang_up();
  }
  // The next request comes on another connection; this one stays as it is.
  void leave_open() { left_.push_back(std::exchange(accepted_, -1)); }

 private:
  int listening_, accepted_ = -1;
  std::vector<int> left_;
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
  const std::unique_ptr<HttpExchange> made_ = (start_libcurl(), make_exchange(place_, "/"));
  HttpExchange& exchange_ = *made_;
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

class HttpExchangeTest : public testing::Test {
 protected:
  // The answer to a request that a server gets to `serve`.
  void ask(const std::function<void()>& serve) {
    std::thread server(serve);
    exchange_.start();
    try {
      exchange_.finish();
      failure_.clear();
    } catch (const Failure& failure) {
      failure_ = failure.message;
    }
    server.join();
  }
  void ask(std::string_view answer) {
    ask([&] {
      request_ = listener_.read_request();
      listener_.send(answer);
    });
  }

  Listener listener_;
  const HttpPlace place_{.url = listener_.url(), .token = "secret", .timeout_s = 5};
  const std::unique_ptr<HttpExchange> made_ = (start_libcurl(), make_exchange(place_, "/v2/a%20b?c=d"));
  HttpExchange& exchange_ = *made_;
  std::string request_, failure_;
};

constexpr std::string_view answer_ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST_F(HttpExchangeTest, ARequestIsWhatTheStandardWants) {
  ask(answer_ok);
  EXPECT_EQ(request_, "GET /v2/a%20b?c=d HTTP/1.1\r\nHost: " + listener_.url().substr(7) +
                          "\r\nAuthorization: Bearer secret\r\nAccept: */*\r\n\r\n");
  exchange_.set_post("body", {"Accept: text/plain", "X-Y: z"});
  ask(answer_ok);
  EXPECT_EQ(request_,
            "POST /v2/a%20b?c=d HTTP/1.1\r\nHost: " + listener_.url().substr(7) +
                "\r\nAuthorization: Bearer secret\r\nAccept: text/plain\r\nX-Y: z\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_EQ(exchange_.body(), "ok");
}

TEST_F(HttpExchangeTest, AConnectionIsKept) {
  for (int i = 0; i < 3; ++i) {
    ask(answer_ok);
    EXPECT_EQ(failure_, "");
    EXPECT_EQ(exchange_.transport(), "HTTP/1.1, connection kept alive");
  }
}

// The listener goes on with the connection that it has, so that another one would not be answered.
TEST_F(HttpExchangeTest, AnAnswerOfAnyStatusIsOneAndOfAnyKind) {
  ask("HTTP/1.1 404 Not Found\r\nX-Why: because\r\nContent-Length: 4\r\n\r\ngone");
  EXPECT_EQ(exchange_.status(), 404);
  EXPECT_EQ(exchange_.body(), "gone");
  EXPECT_EQ(exchange_.header("x-why"), "because");
  EXPECT_EQ(exchange_.header("x-other"), std::nullopt);
  ask("HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(exchange_.status(), 204);
  EXPECT_EQ(exchange_.body(), "");
  ask("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-Why: not yet\r\n\r\n"
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nX-End: all\r\n\r\n");
  EXPECT_EQ(exchange_.status(), 200);
  EXPECT_EQ(exchange_.body(), "abc");
  EXPECT_EQ(exchange_.header("X-Why"), std::nullopt);
  EXPECT_EQ(exchange_.header("X-End"), std::nullopt) << "it came behind the body";
  EXPECT_EQ(exchange_.trailer("X-End"), "all");
}

TEST_F(HttpExchangeTest, AnAnswerMayEndWithItsConnection) {
  ask([&] {
    listener_.read_request();
    listener_.send("HTTP/1.0 200 OK\r\n\r\nall of it");
    listener_.hang_up();
  });
  EXPECT_EQ(exchange_.body(), "all of it");
  EXPECT_EQ(exchange_.transport(), "HTTP/1.1, a connection for each request");
  ask(answer_ok);
  EXPECT_EQ(failure_, "");
}

TEST_F(HttpExchangeTest, AnAnswerThatEndsWithAResetHasNoEnd) {
  ask([&] {
    listener_.read_request();
    listener_.send("HTTP/1.0 200 OK\r\n\r\nsome of it");
    listener_.reset();
  });
  EXPECT_THAT(failure_, testing::HasSubstr("closed the connection")) << "with what came of it, or without";
}

TEST_F(HttpExchangeTest, WhatAServerHungUpOnIsSentAgain) {
  ask(answer_ok);
  for (int i = 0; i < 2; ++i) {
    listener_.hang_up();
    ask(answer_ok);
    EXPECT_EQ(failure_, "");
    EXPECT_EQ(exchange_.body(), "ok");
  }
  EXPECT_EQ(exchange_.transport(), "HTTP/1.1, a connection for each request");
}

// Between two requests, in the middle of an answer, and without one: only the first is tried again.
TEST_F(HttpExchangeTest, AnAnswerThatBreaksOffFails) {
  ask([&] {
    listener_.read_request();
    listener_.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab");
    listener_.hang_up();
  });
  EXPECT_THAT(failure_, testing::HasSubstr("closed the connection in the middle of its answer"));
  ask([&] {
    listener_.read_request();
    listener_.send("HTTP/1.1 200 O");
    listener_.hang_up();
  });
  EXPECT_THAT(failure_, testing::HasSubstr("closed the connection in the middle of its answer"));
  ask([&] {
    listener_.read_request();
    listener_.hang_up();
  });
  EXPECT_THAT(failure_, testing::HasSubstr("closed the connection without an answer"));
}

TEST_F(HttpExchangeTest, ALargeBodyIsSentWhole) {
  const std::string body(std::size_t{8} << 20, 'x');
  exchange_.set_post(body, {});
  std::size_t received = 0;
  ask([&] {
    std::string text = listener_.read_request();
    for (received = text.size() - text.find("\r\n\r\n") - 4; received < body.size(); received += text.size())
      text = listener_.read_some();
    listener_.send(answer_ok);
  });
  EXPECT_EQ(received, body.size());
  EXPECT_EQ(failure_, "");
}

TEST_F(HttpExchangeTest, ALargeAnswerIsReadWhole) {
  exchange_.set_limit(std::size_t{16} << 20);
  const std::string body(std::size_t{8} << 20, 'y');
  ask("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(exchange_.body() == body);
}

// The rest of the request is not sent, and the connection not used again.
TEST_F(HttpExchangeTest, AnAnswerMayComeBeforeTheRequestIsThere) {
  const std::string body(std::size_t{64} << 20, 'x');
  exchange_.set_post(body, {});
  ask([&] {
    listener_.read_request();
    listener_.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
    while (!listener_.read_some().empty()) {
    }
    listener_.hang_up();
  });
  EXPECT_EQ(failure_, "");
  EXPECT_EQ(exchange_.status(), 413);
  exchange_.set_post("", {});
  ask(answer_ok);
  EXPECT_EQ(failure_, "");
}

TEST_F(HttpExchangeTest, WhatComesBehindAnAnswerIsNoneOfTheNext) {
  ask(std::string(answer_ok) + "HTTP/1.1 500 Surprise\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(exchange_.status(), 200);
  listener_.leave_open();
  ask(answer_ok);
  EXPECT_EQ(exchange_.status(), 200);
  listener_.send("HTTP/1.1 500 Surprise\r\nContent-Length: 0\r\n\r\n");
  listener_.leave_open();
  ask(answer_ok);
  EXPECT_EQ(exchange_.status(), 200);
}

TEST_F(HttpExchangeTest, AnswersAreBounded) {
  exchange_.set_limit(10);
  ask("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world");
  EXPECT_THAT(failure_, testing::HasSubstr("sends more than 10 bytes"));
  listener_.hang_up();
  ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n0\r\n\r\n");
  EXPECT_THAT(failure_, testing::HasSubstr("sends more than 10 bytes"));
  listener_.hang_up();
  ask("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n");
  EXPECT_THAT(failure_, testing::HasSubstr("sends more than 10 bytes")) << "whether they come or not";
  const std::string line = "X: " + std::string(1000, 'x') + "\r\n";
  std::string lines;
  for (int i = 0; i < 80; ++i) lines += line;
  for (const std::string& answer : {"HTTP/1.1 200 OK\r\n" + lines + "\r\n",
                                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + lines + "\r\n"}) {
    listener_.hang_up();
    ask(answer);
    EXPECT_THAT(failure_, testing::HasSubstr("sends more than 65536 bytes of headers"));
  }
}

TEST_F(HttpExchangeTest, InterimAnswersAreBoundedTogether) {
  std::string few;
  for (int i = 0; i < 100; ++i) few += "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n";
  ask(few + std::string(answer_ok));
  EXPECT_EQ(failure_, "");
  ask([&] {
    listener_.read_request();
    listener_.flood(few);
  });
  EXPECT_THAT(failure_, testing::HasSubstr("sends more than 65536 bytes of headers"));
}

// However fast it comes: nothing of the time limit depends on a moment without bytes.
TEST_F(HttpExchangeTest, AnAnswerWithoutAnEndTakesItsTimeAndNoMore) {
  const HttpPlace impatient{.url = listener_.url(), .timeout_s = 0.2};
  const auto exchange = make_exchange(impatient, "/");
  exchange->set_limit(std::size_t{1} << 40);
  class Nowhere final : public BodySink {
    void take(std::string_view, std::int64_t) override {}
  } nowhere;
  exchange->set_sink(&nowhere);
  std::thread server([&] {
    listener_.read_request();
    listener_.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n");
    listener_.flood(std::string(std::size_t{1} << 20, 'x'));
  });
  exchange->start();
  try {
    exchange->finish();
    ADD_FAILURE() << "it came to its end";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.message, testing::HasSubstr("did not answer within 0.2 s"));
  }
  server.join();
}

TEST_F(HttpExchangeTest, WhatIsNoHttpIsSaid) {
  for (const std::string_view answer :
       {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 two hundred\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfew\r\n"}) {
    ask(answer);
    EXPECT_THAT(failure_, testing::HasSubstr("does not speak HTTP/1.1 (")) << answer;
    listener_.hang_up();
  }
}

TEST_F(HttpExchangeTest, ALineWithoutAnEndIsNotKept) {
  const std::string answer =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(std::size_t{1} << 20, 'x');
  ask(answer);
  EXPECT_THAT(failure_, testing::HasSubstr("does not speak HTTP/1.1 ("));
}

class Text final : public Http1Answer::Body {
 public:
  bool take(std::string_view bytes) override {
    text += bytes;
    return true;
  }
  std::string text;
};

TEST(Http1Answer, IsTheSameHoweverItIsCut) {
  constexpr std::string_view all =
      "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nX-B: 2\r\n\r\nbehind";
  for (std::size_t length = 1; length <= all.size(); ++length) {
    Text text;
    Http1Answer answer(text);
    answer.begin(1000, 1000);
    auto state = Http1Answer::State::needs_more;
    std::string_view rest;
    for (std::size_t read = 0; state == Http1Answer::State::needs_more; read += length) {
      rest = all.substr(read - rest.size(), rest.size() + length);
      state = answer.parse(rest);
    }
    EXPECT_EQ(state, Http1Answer::State::done);
    EXPECT_EQ(text.text, "hello world");
    EXPECT_EQ(answer.header("x-a"), "1");
    EXPECT_EQ(answer.trailer("x-b"), "2");
    EXPECT_TRUE(answer.keeps_connection());
    EXPECT_TRUE(std::string_view("behind").starts_with(rest));
  }
}

}  // namespace
}  // namespace infermeter
