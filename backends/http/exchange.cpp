#include <cerrno>
#include <cstring>
#include <utility>

#include "http/http.hpp"
#include "http/http1.hpp"
#include "http/http2.hpp"
#include "http/json_text.hpp"
#include "sdk/abi_edge.hpp"

namespace infermeter {
namespace {

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

std::unique_ptr<HttpExchange> make_exchange(const HttpPlace& place, const std::string& path) {
  if (place.http2) return std::make_unique<Http2Exchange>(place, path);
  return std::make_unique<Http1Exchange>(place, path);
}

HttpExchange::~HttpExchange() {
  if (queue_ != nullptr) queue_->forget(*this);
}

bool HttpExchange::put_body(std::string_view bytes, long status) {
  const std::string_view fits = bytes.substr(0, most_bytes_ - body_bytes_);
  body_bytes_ += fits.size();
  try {
    if (sink_ != nullptr && status == 200) {
      sink_->take(fits, received_ns());
    } else {
      body_.append(fits);
    }
  } catch (...) {
    thrown_ = std::current_exception();
    return false;
  }
  is_too_large_ = fits.size() < bytes.size();
  return !is_too_large_;
}

void HttpExchange::start(std::shared_ptr<HttpQueue> queue) {
  if (is_started_) fail(IMB_INVALID_ARGUMENT, "the request is in flight already: it has to be waited for first");
  if (queue == nullptr && own_queue_ == nullptr) own_queue_ = std::make_shared<HttpQueue>();
  if (queue == nullptr) queue = own_queue_;
  if (queue_ != nullptr && queue_ != queue) queue_->forget(*this);
  queue_ = std::move(queue);
  body_.clear();
  body_bytes_ = 0;
  thrown_ = nullptr;
  is_too_large_ = has_too_many_headers_ = false;
  result_.reset();
  queue_->begins(*this);
  is_started_ = true;
  begin();
}

void HttpExchange::end_with(CURLcode code) {
  result_ = code;
  queue_->ended(*this);
}

void HttpExchange::finish() {
  if (!is_started_) fail(IMB_INVALID_ARGUMENT, "nothing was submitted that could be waited for");
  queue_->wait_for(*this);
  is_started_ = false;
  release();
  if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  if (*result_ != CURLE_OK) refuse(*result_);
  succeed();
}

void HttpExchange::fail_with(CURLcode code, std::string_view own_words, long system_error) const {
  const std::string server = "the server at " + shown(place_.url, 200) + ' ';
  const std::string words = shown(own_words.empty() ? curl_easy_strerror(code) : own_words);
  if (has_too_many_headers_)
    fail(IMB_BAD_ANSWER, server + "sends more than " + std::to_string(most_headers) + " bytes of headers");
  if (is_too_large_ || code == CURLE_FILESIZE_EXCEEDED)
    fail(IMB_BAD_ANSWER, server + "sends more than " + std::to_string(most_bytes_) +
                             " bytes, which is more than an answer can have here");
  switch (code) {
    case CURLE_COULDNT_CONNECT: {
      if (system_error == ECONNREFUSED)
        fail(IMB_SERVER_REFUSED, server + "refuses connections: is it started, and is the port of url= right?");
      const std::string why = system_error != 0 ? std::strerror(static_cast<int>(system_error)) : words;
      fail(IMB_SERVER_REFUSED, server + "cannot be reached (" + why + "): look at url=");
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
      fail(IMB_BAD_ANSWER, server + "does not speak " + (place_.http2 ? "HTTP/2" : "HTTP/1.1") + " (" + words + ')');
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
