#include "http/http1.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace infermeter {
namespace {

// A body of no more bytes is copied behind its head, which saves a call of the kernel.
constexpr std::size_t small_body = std::size_t{64} << 10;
constexpr std::size_t smallest_read = std::size_t{16} << 10, largest_read = std::size_t{512} << 10;
// So many connections in a row that were to be kept and were not are the server's way.
constexpr int most_lost_connections = 2;

bool is_for_later(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

// Nothing has come that was not asked for, which would be taken for the next answer; nor was the connection closed.
bool is_quiet(int socket) {
  char byte = 0;
  return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && is_for_later(errno);
}

}  // namespace

Http1Exchange::Http1Exchange(const HttpPlace& place, const std::string& path)
    : HttpExchange(place),
      authority_(authority_of(place.url)),
      target_(target_of(place.url + path)),
      answer_(*this),
      connection_(place, place.url + path, *this) {
  connection_.set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  connection_.set(CURLOPT_CONNECT_ONLY, 1L);
  set_request("GET", {}, {});
}

void Http1Exchange::set_request(const std::string& method, const std::vector<std::string>& headers,
                                std::string_view body) {
  head_ = method + ' ' + target_ + " HTTP/1.1\r\nHost: " + authority_ + "\r\n";
  if (!place().token.empty()) head_ += "Authorization: Bearer " + place().token + "\r\n";
  bool has_accept = false;
  for (const std::string& header : headers) {
    head_ += header + "\r\n";
    has_accept |= header.starts_with("Accept:");
  }
  if (!has_accept) head_ += "Accept: */*\r\n";
  if (method == "POST") head_ += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  head_ += "\r\n";
  const bool is_small = body.size() <= small_body;
  if (is_small) head_ += body;
  large_body_ = is_small ? std::string_view() : body;
}

void Http1Exchange::set_post(std::string_view body, const std::vector<std::string>& headers) {
  set_request("POST", headers, body);
}

void Http1Exchange::begin() {
  connection_.use(queue());
  answer_.begin(most_headers, most_bytes());
  read_ = sent_ = 0;
  is_new_ = is_answered_ = cannot_send_ = false;
  words_.clear();
  deadline_ns_ = monotonic_ns() + static_cast<std::int64_t>(place().timeout_s * 1e9);
  if (socket_ != CURL_SOCKET_BAD && !is_quiet(socket_)) close_connection();
  if (socket_ == CURL_SOCKET_BAD) return open();
  queue().watch(socket_, *this, EPOLLIN);
  if (!has_deadline()) queue().set_deadline(*this, deadline_ns_);
  send_rest();
}

// By libcurl's own timers.
void Http1Exchange::open() {
  is_new_ = is_opening_ = true;
  const std::int64_t left_ms = (deadline_ns_ - monotonic_ns()) / 1'000'000;
  connection_.set(CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<std::int64_t>(1, left_ms)));
  opened_with(connection_.begin());
}

void Http1Exchange::opened_with(std::optional<CURLcode> result) {
  if (!result) return;
  is_opening_ = false;
  if (*result == CURLE_OK && (curl_easy_getinfo(connection_.easy(), CURLINFO_ACTIVESOCKET, &socket_) != CURLE_OK ||
                              socket_ == CURL_SOCKET_BAD))
    result = CURLE_COULDNT_CONNECT;
  if (*result != CURLE_OK) return end_badly(*result, connection_.words());
  queue().watch(socket_, *this, EPOLLIN);
  queue().set_deadline(*this, deadline_ns_);
  send_rest();
}

void Http1Exchange::close_connection() {
  socket_ = CURL_SOCKET_BAD;
  is_opening_ = false;
  connection_.end();
  queue().set_deadline(*this, 0);
}

// A server that closes a connection may have answered before: then that is what counts.
void Http1Exchange::send_rest() {
  const std::size_t size = head_.size() + large_body_.size();
  while (sent_ < size && !cannot_send_) {
    const std::string_view rest =
        sent_ < head_.size() ? std::string_view(head_).substr(sent_) : large_body_.substr(sent_ - head_.size());
    std::size_t count = 0;
    bool is_later = false;
    if (is_encrypted(place())) {
      const CURLcode code = curl_easy_send(connection_.easy(), rest.data(), rest.size(), &count);
      is_later = code == CURLE_AGAIN;
      cannot_send_ = code != CURLE_OK && !is_later;
    } else {
      const int more = sent_ < head_.size() && !large_body_.empty() ? MSG_MORE : 0;
      const ssize_t sent = send(socket_, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL | more);
      is_later = sent < 0 && is_for_later(errno);
      cannot_send_ = sent < 0 && !is_later;
      if (sent > 0) count = static_cast<std::size_t>(sent);
    }
    sent_ += count;
    if (is_later) return queue().watch(socket_, *this, EPOLLIN | EPOLLOUT);
  }
  queue().watch(socket_, *this, EPOLLIN);
}

void Http1Exchange::act(int descriptor, std::uint32_t events) {
  if (!is_running()) return;
  if (is_opening_) return opened_with(connection_.act(descriptor, events));
  if ((events & EPOLLOUT) != 0) send_rest();
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read_answer(descriptor, events);
}

void Http1Exchange::read_answer(int descriptor, std::uint32_t events) {
  if (is_encrypted(place())) note_received(descriptor, events);
  while (is_running() && socket_ == descriptor) {
    if (read_ == bytes_.size()) make_room();
    if (read_ == bytes_.size()) return end_badly(CURLE_WEIRD_SERVER_REPLY, "a line of it has no end");
    const std::size_t room = bytes_.size() - read_;
    const ssize_t count = read_some(descriptor);
    if (count < 0 && is_for_later(errno)) return;
    if (count < 0) return lost(CURLE_RECV_ERROR, words_.empty() ? std::strerror(errno) : words_.c_str());
    if (count == 0) return lost(CURLE_GOT_NOTHING, "");
    is_answered_ = true;
    read_ += static_cast<std::size_t>(count);
    parse_read();
    // Where there was less than there was room for, more is told of by an event; of what TLS has decrypted, by none.
    const bool is_full = static_cast<std::size_t>(count) == room;
    if (!is_encrypted(place()) && !is_full) return;
    if (is_running() && monotonic_ns() >= deadline_ns_) return end_badly(CURLE_OPERATION_TIMEDOUT);
    if (is_full && is_running() && bytes_.size() < largest_read) make_room();
  }
}

void Http1Exchange::make_room() { bytes_.resize(std::clamp(2 * bytes_.size(), smallest_read, largest_read)); }

// As recv.
ssize_t Http1Exchange::read_some(int descriptor) {
  char* const place_of_it = bytes_.data() + read_;
  const std::size_t room = bytes_.size() - read_;
  if (!is_encrypted(place())) return receive(descriptor, place_of_it, room);
  std::size_t count = 0;
  const CURLcode code = curl_easy_recv(connection_.easy(), place_of_it, room, &count);
  took(count);
  if (code == CURLE_OK) return static_cast<ssize_t>(count);
  errno = code == CURLE_AGAIN ? EAGAIN : ECONNRESET;
  if (code != CURLE_AGAIN) words_ = connection_.words().empty() ? curl_easy_strerror(code) : connection_.words();
  return -1;
}

void Http1Exchange::parse_read() {
  std::string_view rest(bytes_.data(), read_);
  const Http1Answer::State state = answer_.parse(rest);
  if (rest.size() < read_) std::ranges::copy(rest, bytes_.begin());
  read_ = rest.size();
  if (state != Http1Answer::State::needs_more) end(state);
}

// The connection was closed, or broke. One that was kept may have been closed before the request came, which is then
// sent again; it stays in its time.
void Http1Exchange::lost(CURLcode code, const char* words) {
  const bool is_closed = code == CURLE_GOT_NOTHING;
  if (is_answered_ && is_closed && answer_.end() == Http1Answer::State::done) return end(Http1Answer::State::done);
  if (is_answered_) return end_badly(CURLE_PARTIAL_FILE);
  if (is_new_) return end_badly(code, words);
  close_connection();
  sent_ = 0;
  cannot_send_ = false;
  words_.clear();
  open();
}

void Http1Exchange::end(Http1Answer::State state) {
  using State = Http1Answer::State;
  switch (state) {
    case State::needs_more:
    case State::done: break;
    case State::too_many_headers: has_too_many_headers(); return end_badly(CURLE_WEIRD_SERVER_REPLY);
    case State::too_large: is_too_large(); return end_badly(CURLE_FILESIZE_EXCEEDED);
    case State::stopped: return end_badly(CURLE_WRITE_ERROR);
    case State::broken: return end_badly(CURLE_WEIRD_SERVER_REPLY, answer_.words());
  }
  const bool is_all_sent = sent_ == head_.size() + large_body_.size(), is_all_read = read_ == 0;
  note_connection();
  if (was_to_be_kept_ && is_all_sent && is_all_read && !closes_each()) {
    queue().watch(socket_, *this, 0);
  } else {
    close_connection();
  }
  end_with(CURLE_OK);
}

void Http1Exchange::end_badly(CURLcode code, std::string_view words) {
  words_ = words;
  was_to_be_kept_ = false;
  close_connection();
  end_with(code);
}

void Http1Exchange::expire() {
  if (!is_running()) return;
  if (is_opening_) {
    opened_with(connection_.expire());
  } else if (monotonic_ns() < deadline_ns_) {
    queue().set_deadline(*this, deadline_ns_);
  } else {
    end_badly(CURLE_OPERATION_TIMEDOUT);
  }
}

void Http1Exchange::hung_up(int descriptor) {
  if (descriptor == socket_) close_connection();
}

bool Http1Exchange::take(std::string_view bytes) { return put_body(bytes, answer_.status()); }

// A server may close a connection that it said it keeps (llama.cpp's does after each stream), so that the next request
// is sent into nothing first. From such a server no connection is expected to be kept any more.
void Http1Exchange::note_connection() {
  if (!closes_each()) lost_connections_ = was_to_be_kept_ && is_new_ ? lost_connections_ + 1 : 0;
  was_to_be_kept_ = answer_.keeps_connection();
}

void Http1Exchange::refuse(CURLcode code) { fail_with(code, words_, connection_.system_error()); }

bool Http1Exchange::closes_each() const { return lost_connections_ >= most_lost_connections; }

std::string Http1Exchange::transport() const {
  return std::string("HTTP/1.1") + (is_encrypted(place()) ? " over TLS" : "") +
         (!answer_.keeps_connection() || closes_each() ? ", a connection for each request" : ", connection kept alive");
}

}  // namespace infermeter
