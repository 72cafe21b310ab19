#include "http/transfer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "http/json_text.hpp"

namespace infermeter {
namespace {

// "" where the URL has no such part, if it may lack it.
std::string part_of(const std::string& url, CURLUPart part, unsigned flags = CURLU_DEFAULT_PORT,
                    CURLUcode may_lack = CURLUE_OK) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parsed(curl_url(), curl_url_cleanup);
  char* text = nullptr;
  const bool is_url =
      parsed != nullptr && curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_PATH_AS_IS) == CURLUE_OK;
  const CURLUcode code = is_url ? curl_url_get(parsed.get(), part, &text, flags) : CURLUE_BAD_HANDLE;
  if (may_lack != CURLUE_OK && code == may_lack) return {};
  if (code != CURLUE_OK)
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

}  // namespace

bool is_encrypted(const HttpPlace& place) { return place.url.starts_with("https:"); }

std::string authority_of(const std::string& url) {
  const std::string port = part_of(url, CURLUPART_PORT, CURLU_NO_DEFAULT_PORT, CURLUE_NO_PORT);
  return part_of(url, CURLUPART_HOST) + (port.empty() ? "" : ':' + port);
}

std::string target_of(const std::string& url) {
  const std::string query = part_of(url, CURLUPART_QUERY, 0, CURLUE_NO_QUERY);
  return part_of(url, CURLUPART_PATH) + (query.empty() ? "" : '?' + query);
}

curl_slist* appended(curl_slist* list, const std::string& text) {
  curl_slist* const longer = curl_slist_append(list, text.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  return longer;
}

Transfer::Transfer(const HttpPlace& place, const std::string& url, QueueMember& member)
    : member_(member),
      resolved_(nullptr, curl_slist_free_all),
      easy_(curl_easy_init(), curl_easy_cleanup),
      multi_(curl_multi_init(), curl_multi_cleanup) {
  if (easy_ == nullptr || multi_ == nullptr) throw std::bad_alloc();
  resolved_.reset(resolved(place));
  set(CURLOPT_ERRORBUFFER, words_.data());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_PROXY, "");  // what is measured is the server, whatever the environment says
  set(CURLOPT_RESOLVE, resolved_.get());
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(std::max(1.0, place.timeout_s * 1000)));
  set(CURLOPT_SSL_VERIFYPEER, place.verify ? 1L : 0L);
  set(CURLOPT_SSL_VERIFYHOST, place.verify ? 2L : 0L);
  if (!place.certificates.empty()) set(CURLOPT_CAINFO, place.certificates.c_str());
  set(CURLOPT_CLOSESOCKETFUNCTION, &Transfer::close_socket);
  set(CURLOPT_CLOSESOCKETDATA, this);
  CURLM* const multi = multi_.get();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 1L);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &Transfer::want_events);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &Transfer::want_time);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
}

Transfer::~Transfer() { end(); }

int Transfer::want_events(CURL* /*easy*/, curl_socket_t socket, int what, void* self, void* /*of_socket*/) {
  const auto& transfer = *static_cast<Transfer*>(self);
  std::uint32_t wanted = 0;
  if (what != CURL_POLL_REMOVE && (what & CURL_POLL_IN) != 0) wanted |= EPOLLIN;
  if (what != CURL_POLL_REMOVE && (what & CURL_POLL_OUT) != 0) wanted |= EPOLLOUT;
  transfer.queue_->watch(socket, transfer.member_, wanted);
  return 0;
}

int Transfer::want_time(CURLM* /*multi*/, long milliseconds, void* self) {
  const auto& transfer = *static_cast<Transfer*>(self);
  constexpr std::int64_t millisecond_ns = 1'000'000;
  transfer.queue_->set_deadline(transfer.member_,
                                milliseconds < 0 ? 0 : monotonic_ns() + milliseconds * millisecond_ns);
  return 0;
}

int Transfer::close_socket(void* self, curl_socket_t socket) {
  static_cast<Transfer*>(self)->queue_->closed(socket);
  return close(socket);
}

std::optional<CURLcode> Transfer::begin() {
  words_[0] = '\0';
  if (const CURLMcode code = curl_multi_add_handle(multi_.get(), easy_.get()); code != CURLM_OK) return failed(code);
  has_begun_ = true;
  return expire();
}

CURLcode Transfer::failed(CURLMcode code) {
  std::snprintf(words_.data(), words_.size(), "libcurl failed: %s", curl_multi_strerror(code));
  return CURLE_FAILED_INIT;
}

std::optional<CURLcode> Transfer::act(curl_socket_t socket, std::uint32_t events) {
  return perform(socket, ((events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                             ((events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                             ((events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0));
}

std::optional<CURLcode> Transfer::perform(curl_socket_t socket, int events) {
  int running = 0, left = 0;
  const CURLMcode code = curl_multi_socket_action(multi_.get(), socket, events, &running);
  if (code != CURLM_OK) return failed(code);
  if (running != 0) return std::nullopt;
  CURLcode result = CURLE_GOT_NOTHING;
  while (const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left))
    if (message->msg == CURLMSG_DONE) result = message->data.result;
  return result;
}

void Transfer::end() {
  if (has_begun_) curl_multi_remove_handle(multi_.get(), easy_.get());
  has_begun_ = false;
}

long Transfer::system_error() const {
  long error = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &error);
  return error;
}

long Transfer::opened_connections() const {
  long count = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_NUM_CONNECTS, &count);
  return count;
}

}  // namespace infermeter
