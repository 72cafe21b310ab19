#include "http/http.hpp"

#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "http/json_text.hpp"
#include "sdk/abi_edge.hpp"

namespace infermeter {
namespace {

constexpr std::size_t small_answer = std::size_t{4} << 20, most_headers = std::size_t{64} << 10;
constexpr long largest_receive_buffer = 512L << 10, largest_send_buffer = 2L << 20;

template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  if (const CURLcode code = curl_easy_setopt(easy, option, value); code != CURLE_OK)
    fail(IMB_RUN_ERROR, std::string("libcurl does not take an option: ") + curl_easy_strerror(code));
}

void check(CURLMcode code) {
  if (code != CURLM_OK) fail(IMB_RUN_ERROR, std::string("libcurl failed: ") + curl_multi_strerror(code));
}

curl_slist* appended(curl_slist* list, const std::string& text) {
  curl_slist* const longer = curl_slist_append(list, text.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  return longer;
}

std::string part_of(const std::string& url, CURLUPart part) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parsed(curl_url(), curl_url_cleanup);
  char* text = nullptr;
  if (parsed == nullptr || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK ||
      curl_url_get(parsed.get(), part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK)
    fail(IMB_INVALID_ARGUMENT, "url=" + shown(url, 200) + " is not a URL; give url=http://HOST:PORT");
  const std::unique_ptr<char, void (*)(void*)> owner(text, curl_free);
  return text;
}

// "127.0.0.1:8000,[::1]:8000" -> "127.0.0.1,[::1]"
std::string without_ports(std::string_view addresses) {
  std::string plain;
  while (!addresses.empty()) {
    const std::size_t comma = std::min(addresses.find(','), addresses.size());
    const std::string_view one = addresses.substr(0, comma);
    plain += (plain.empty() ? "" : ",") + std::string(one.substr(0, one.rfind(':')));
    addresses.remove_prefix(std::min(comma + 1, addresses.size()));
  }
  return plain;
}

// Names that are addresses need no answer of a resolver.
curl_slist* resolved(const HttpPlace& place) {
  const std::string host = part_of(place.url, CURLUPART_HOST);
  if (place.addresses.empty() || host.starts_with('[')) return nullptr;
  return appended(nullptr, host + ':' + part_of(place.url, CURLUPART_PORT) + ':' + without_ports(place.addresses));
}

bool is_encrypted(const HttpPlace& place) { return place.url.starts_with("https:"); }

long wanted_version(const HttpPlace& place) {
  if (!place.http2) return CURL_HTTP_VERSION_1_1;
  return is_encrypted(place) ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
}

// libcurl 7 breaks a connection that it uses again by prior knowledge (curl issue 10634).
bool breaks_prior_knowledge() { return curl_version_info(CURLVERSION_NOW)->version_num < 0x080000; }

// So many connections in a row that were to be kept and were not are the server's way.
constexpr int most_lost_connections = 2;

const char* protocol_of(const HttpPlace& place) { return place.http2 ? "HTTP/2" : "HTTP/1.1"; }

std::string seconds_text(double seconds) {
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

void start_libcurl() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK)
    fail(IMB_LIBRARY_MISSING, std::string("libcurl did not start: ") + curl_easy_strerror(started));
}

std::string escaped_part(std::string_view text) {
  const std::unique_ptr<char, void (*)(void*)> escaped(
      curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size())), curl_free);
  if (escaped == nullptr) throw std::bad_alloc();
  return escaped.get();
}

HttpExchange::HttpExchange(const HttpPlace& place, const std::string& path)
    : place_(place),
      easy_(curl_easy_init(), curl_easy_cleanup),
      multi_(curl_multi_init(), curl_multi_cleanup),
      resolved_(nullptr, curl_slist_free_all),
      headers_(nullptr, curl_slist_free_all),
      most_bytes_(small_answer) {
  if (easy_ == nullptr || multi_ == nullptr) throw std::bad_alloc();
  resolved_.reset(resolved(place));
  CURL* const easy = easy_.get();
  set(easy, CURLOPT_ERRORBUFFER, words_.data());
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_URL, (place.url + path).c_str());
  set(easy, CURLOPT_PATH_AS_IS, 1L);
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_PROXY, "");  // what is measured is the server, whatever the environment says
  set(easy, CURLOPT_RESOLVE, resolved_.get());
  set(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(std::max(1.0, place.timeout_s * 1000)));
  set(easy, CURLOPT_BUFFERSIZE, largest_receive_buffer);
  set(easy, CURLOPT_UPLOAD_BUFFERSIZE, largest_send_buffer);
  set(easy, CURLOPT_WRITEFUNCTION, &HttpExchange::take_body);
  set(easy, CURLOPT_WRITEDATA, this);
  set(easy, CURLOPT_HEADERFUNCTION, &HttpExchange::take_header);
  set(easy, CURLOPT_HEADERDATA, this);
  set(easy, CURLOPT_SSL_VERIFYPEER, place.verify ? 1L : 0L);
  set(easy, CURLOPT_SSL_VERIFYHOST, place.verify ? 2L : 0L);
  if (!place.certificates.empty()) set(easy, CURLOPT_CAINFO, place.certificates.c_str());
  set(easy, CURLOPT_CLOSESOCKETFUNCTION, &HttpExchange::close_socket);
  set(easy, CURLOPT_CLOSESOCKETDATA, this);
  CURLM* const multi = multi_.get();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 1L);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &HttpExchange::want_events);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &HttpExchange::want_time);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
  set_headers({});
  set_limit(small_answer);
}

HttpExchange::~HttpExchange() {
  if (is_started_) end();
  if (queue_ != nullptr) queue_->forget(*this);
}

void HttpExchange::set_headers(const std::vector<std::string>& headers) {
  curl_slist* list = appended(nullptr, "Expect:");  // nothing is asked before the body is sent
  headers_.reset(list);
  if (!place_.token.empty()) list = appended(list, "Authorization: Bearer " + place_.token);
  for (const std::string& header : headers) list = appended(list, header);
  set(easy_.get(), CURLOPT_HTTPHEADER, headers_.get());
}

void HttpExchange::set_post(std::string_view body, const std::vector<std::string>& headers) {
  set(easy_.get(), CURLOPT_POST, 1L);
  set(easy_.get(), CURLOPT_POSTFIELDS, body.data());
  set(easy_.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  set_headers(headers);
}

void HttpExchange::set_limit(std::size_t most_bytes) {
  most_bytes_ = most_bytes;
  set(easy_.get(), CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(most_bytes));
}

std::size_t HttpExchange::take_body(char* bytes, std::size_t one, std::size_t count, void* self) {
  auto& exchange = *static_cast<HttpExchange*>(self);
  const std::size_t size = one * count;
  exchange.took(size);
  if (size > exchange.most_bytes_ - exchange.body_bytes_) {
    exchange.is_too_large_ = true;
    return 0;
  }
  exchange.body_bytes_ += size;
  try {
    exchange.put_body({bytes, size});
  } catch (...) {
    exchange.thrown_ = std::current_exception();
    return 0;
  }
  return size;
}

void HttpExchange::put_body(std::string_view bytes) {
  if (sink_ != nullptr) {
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status == 200) return sink_->take(bytes, received_ns());
  }
  body_.append(bytes);
}

std::size_t HttpExchange::take_header(char* /*bytes*/, std::size_t one, std::size_t count, void* self) {
  auto& exchange = *static_cast<HttpExchange*>(self);
  exchange.took(one * count);
  exchange.header_bytes_ += one * count;
  return exchange.header_bytes_ <= most_headers ? one * count : 0;
}

int HttpExchange::want_events(CURL* /*easy*/, curl_socket_t socket, int what, void* self, void* /*of_socket*/) {
  auto& exchange = *static_cast<HttpExchange*>(self);
  std::uint32_t wanted = 0;
  if (what != CURL_POLL_REMOVE && (what & CURL_POLL_IN) != 0) wanted |= EPOLLIN;
  if (what != CURL_POLL_REMOVE && (what & CURL_POLL_OUT) != 0) wanted |= EPOLLOUT;
  exchange.queue_->watch(socket, exchange, wanted);
  return 0;
}

int HttpExchange::want_time(CURLM* /*multi*/, long milliseconds, void* self) {
  auto& exchange = *static_cast<HttpExchange*>(self);
  constexpr std::int64_t millisecond_ns = 1'000'000;
  exchange.queue_->set_deadline(exchange, milliseconds < 0 ? 0 : monotonic_ns() + milliseconds * millisecond_ns);
  return 0;
}

int HttpExchange::close_socket(void* self, curl_socket_t socket) {
  static_cast<HttpExchange*>(self)->queue_->closed(socket);
  return close(socket);
}

void HttpExchange::start(std::shared_ptr<HttpQueue> queue) {
  if (is_started_) fail(IMB_INVALID_ARGUMENT, "the request is in flight already: it has to be waited for first");
  if (queue == nullptr && own_queue_ == nullptr) own_queue_ = std::make_shared<HttpQueue>();
  if (queue == nullptr) queue = own_queue_;
  if (queue_ != nullptr && queue_ != queue) queue_->forget(*this);
  queue_ = std::move(queue);
  body_.clear();
  body_bytes_ = header_bytes_ = 0;
  thrown_ = nullptr;
  is_too_large_ = false;
  words_[0] = '\0';
  result_.reset();
  multi_result_ = CURLM_OK;
  set_version();
  queue_->begins(*this);
  check(curl_multi_add_handle(multi_.get(), easy_.get()));
  is_started_ = true;
  perform(CURL_SOCKET_TIMEOUT, 0);
}

void HttpExchange::act(int descriptor, std::uint32_t events) {
  perform(descriptor, ((events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                          ((events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                          ((events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0));
}

void HttpExchange::perform(curl_socket_t socket, int events) {
  int running = 0, left = 0;
  multi_result_ = curl_multi_socket_action(multi_.get(), socket, events, &running);
  if (!is_running() || (running != 0 && multi_result_ == CURLM_OK)) return;
  result_ = CURLE_GOT_NOTHING;
  while (const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left))
    if (message->msg == CURLMSG_DONE) result_ = message->data.result;
  queue_->ended(*this);
}

// A connection that speaks HTTP/2 already is used for what wants an upgrade, too.
void HttpExchange::set_version() {
  const bool upgrades = has_connection_ && breaks_prior_knowledge();
  set(easy_.get(), CURLOPT_HTTP_VERSION, upgrades ? long{CURL_HTTP_VERSION_2_0} : wanted_version(place_));
}

void HttpExchange::end() {
  curl_multi_remove_handle(multi_.get(), easy_.get());
  is_started_ = false;
}

void HttpExchange::finish() {
  if (!is_started_) fail(IMB_INVALID_ARGUMENT, "nothing was submitted that could be waited for");
  queue_->wait_for(*this);
  const CURLcode code = *result_;
  end();
  check(multi_result_);
  const bool had_connection = std::exchange(has_connection_, false);
  if (code != CURLE_OK) was_to_be_kept_ = false;
  if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  if (code != CURLE_OK && had_connection && breaks_prior_knowledge() && opened_connections() > 0)
    fail(IMB_SERVER_RESET, "the server at " + shown(place_.url, 200) + " closed the connection between two requests");
  if (code != CURLE_OK) fail_with(code);
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status_);
  long version = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_HTTP_VERSION, &version);
  if (place_.http2 && version != CURL_HTTP_VERSION_2_0)
    fail(IMB_BAD_ANSWER, "the server at " + shown(place_.url, 200) + " does not speak HTTP/2");
  has_connection_ = place_.http2 && !is_encrypted(place_);
  note_connection();
}

// A server may close a connection that it said it keeps (llama.cpp's does after each stream). libcurl then sends the
// request a second time, which is in its time, and only five times in the life of a handle. From such a server no
// connection is expected to be kept any more.
void HttpExchange::note_connection() {
  if (place_.http2) return;
  lost_connections_ = was_to_be_kept_ && opened_connections() > 0 ? lost_connections_ + 1 : 0;
  const bool closes = lost_connections_ >= most_lost_connections;
  if (closes) set(easy_.get(), CURLOPT_FORBID_REUSE, 1L);
  was_to_be_kept_ = closes || !announced_close();
}

bool HttpExchange::announced_close() const {
  return strcasecmp(header("Connection").value_or("").c_str(), "close") == 0;
}

std::optional<std::string> HttpExchange::field(const char* name, unsigned origin) const {
  curl_header* found = nullptr;
  if (curl_easy_header(easy_.get(), name, 0, origin, -1, &found) != CURLHE_OK) return std::nullopt;
  return std::string(found->value);
}

std::optional<std::string> HttpExchange::header(const char* name) const { return field(name, CURLH_HEADER); }

std::optional<std::string> HttpExchange::trailer(const char* name) const {
  return field(name, CURLH_TRAILER | CURLH_HEADER);
}

long HttpExchange::opened_connections() const {
  long count = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_NUM_CONNECTS, &count);
  return count;
}

std::string HttpExchange::transport() const {
  const bool closes = !place_.http2 && (announced_close() || lost_connections_ >= most_lost_connections);
  return std::string(protocol_of(place_)) + (is_encrypted(place_) ? " over TLS" : "") +
         (closes ? ", a connection for each request" : ", connection kept alive");
}

void HttpExchange::fail_with(CURLcode code) const {
  const std::string server = "the server at " + shown(place_.url, 200) + ' ';
  const std::string words = words_[0] != '\0' ? shown(words_.data()) : shown(curl_easy_strerror(code));
  if (header_bytes_ > most_headers)
    fail(IMB_BAD_ANSWER, server + "sends more than " + std::to_string(most_headers) + " bytes of headers");
  if (is_too_large_ || code == CURLE_FILESIZE_EXCEEDED)
    fail(IMB_BAD_ANSWER, server + "sends more than " + std::to_string(most_bytes_) +
                             " bytes, which is more than an answer can have here");
  switch (code) {
    case CURLE_COULDNT_CONNECT: {
      long error = 0;
      curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &error);
      if (error == ECONNREFUSED)
        fail(IMB_SERVER_REFUSED, server + "refuses connections: is it started, and is the port of url= right?");
      fail(IMB_SERVER_REFUSED, server + "cannot be reached (" +
                                   (error != 0 ? std::strerror(static_cast<int>(error)) : words) + "): look at url=");
    }
    case CURLE_COULDNT_RESOLVE_HOST:
      fail(IMB_RUN_ERROR, server + "is not found: its host cannot be resolved; look at url=");
    case CURLE_OPERATION_TIMEDOUT:
      fail(IMB_SERVER_TIMEOUT, server + "did not answer within " + seconds_text(place_.timeout_s) +
                                   " s; timeout=SECONDS sets another limit");
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR: fail(IMB_SERVER_RESET, server + "closed the connection without an answer (" + words + ')');
    case CURLE_PARTIAL_FILE: fail(IMB_SERVER_RESET, server + "closed the connection in the middle of its answer");
    case CURLE_HTTP2_STREAM: fail(IMB_SERVER_RESET, server + "broke its answer off (" + words + ')');
    case CURLE_HTTP2:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      fail(IMB_BAD_ANSWER, server + "does not speak " + protocol_of(place_) + " (" + words + ')');
    case CURLE_PEER_FAILED_VERIFICATION:
      fail(IMB_RUN_ERROR, server + "has a certificate that is not trusted (" + words +
                              "): name the certificates to trust with ca=FILE");
    case CURLE_SSL_CACERT_BADFILE:
      fail(IMB_INVALID_ARGUMENT,
           "ca=" + shown(place_.certificates, 200) + " contains no certificates that can be read");
    case CURLE_SSL_CONNECT_ERROR:
      fail(IMB_RUN_ERROR, server + "does not speak TLS as it should (" + words + "): is it http:// in url=?");
    case CURLE_OUT_OF_MEMORY: throw std::bad_alloc();
    default: fail(IMB_RUN_ERROR, server + "could not be asked: " + words);
  }
}

}  // namespace infermeter
