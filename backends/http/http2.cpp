#include "http/http2.hpp"

#include <utility>

#include "http/json_text.hpp"

namespace infermeter {
namespace {

constexpr long largest_receive_buffer = 512L << 10, largest_send_buffer = 2L << 20;

long wanted_version(const HttpPlace& place) {
  return is_encrypted(place) ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
}

// libcurl 7 breaks a connection that it uses again by prior knowledge (curl issue 10634).
bool breaks_prior_knowledge() { return curl_version_info(CURLVERSION_NOW)->version_num < 0x080000; }

}  // namespace

Http2Exchange::Http2Exchange(const HttpPlace& place, const std::string& path)
    : HttpExchange(place), headers_(nullptr, curl_slist_free_all), transfer_(place, place.url + path, *this) {
  transfer_.set(CURLOPT_BUFFERSIZE, largest_receive_buffer);
  transfer_.set(CURLOPT_UPLOAD_BUFFERSIZE, largest_send_buffer);
  transfer_.set(CURLOPT_WRITEFUNCTION, &Http2Exchange::take_body);
  transfer_.set(CURLOPT_WRITEDATA, this);
  transfer_.set(CURLOPT_HEADERFUNCTION, &Http2Exchange::take_header);
  transfer_.set(CURLOPT_HEADERDATA, this);
  set_headers({});
  set_limit(most_bytes());
}

void Http2Exchange::set_headers(const std::vector<std::string>& headers) {
  curl_slist* list = appended(nullptr, "Expect:");  // nothing is asked before the body is sent
  headers_.reset(list);
  if (!place().token.empty()) list = appended(list, "Authorization: Bearer " + place().token);
  for (const std::string& header : headers) list = appended(list, header);
  transfer_.set(CURLOPT_HTTPHEADER, headers_.get());
}

void Http2Exchange::set_post(std::string_view body, const std::vector<std::string>& headers) {
  transfer_.set(CURLOPT_POST, 1L);
  transfer_.set(CURLOPT_POSTFIELDS, body.data());
  transfer_.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  set_headers(headers);
}

void Http2Exchange::set_limit(std::size_t most_bytes) {
  HttpExchange::set_limit(most_bytes);
  transfer_.set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(most_bytes));
}

std::size_t Http2Exchange::take_body(char* bytes, std::size_t one, std::size_t count, void* self) {
  auto& exchange = *static_cast<Http2Exchange*>(self);
  const std::size_t size = one * count;
  exchange.took(size);
  return exchange.put_body({bytes, size}, exchange.status_now()) ? size : 0;
}

std::size_t Http2Exchange::take_header(char* /*bytes*/, std::size_t one, std::size_t count, void* self) {
  auto& exchange = *static_cast<Http2Exchange*>(self);  // what came has fewer bytes: headers are compressed
  exchange.header_bytes_ += one * count;
  if (exchange.header_bytes_ <= most_headers) return one * count;
  exchange.has_too_many_headers();
  return 0;
}

void Http2Exchange::begin() {
  header_bytes_ = 0;
  set_version();
  transfer_.use(queue());
  end_if(transfer_.begin());
}

// A connection that speaks HTTP/2 already is used for what wants an upgrade, too.
void Http2Exchange::set_version() {
  const bool upgrades = has_connection_ && breaks_prior_knowledge();
  transfer_.set(CURLOPT_HTTP_VERSION, upgrades ? long{CURL_HTTP_VERSION_2_0} : wanted_version(place()));
}

// Between exchanges libcurl sees itself what became of a connection.
void Http2Exchange::act(int descriptor, std::uint32_t events) {
  if (!is_running()) return;
  note_received(descriptor, events);
  end_if(transfer_.act(descriptor, events));
}

void Http2Exchange::expire() {
  if (is_running()) end_if(transfer_.expire());
}

void Http2Exchange::end_if(std::optional<CURLcode> result) {
  if (result && is_running()) end_with(*result);
}

long Http2Exchange::status_now() const {
  long status = 0;
  curl_easy_getinfo(transfer_.easy(), CURLINFO_RESPONSE_CODE, &status);
  return status;
}

void Http2Exchange::release() {
  transfer_.end();
  had_connection_ = std::exchange(has_connection_, false);
}

void Http2Exchange::succeed() {
  is_of_status(status_now());
  long version = 0;
  curl_easy_getinfo(transfer_.easy(), CURLINFO_HTTP_VERSION, &version);
  if (version != CURL_HTTP_VERSION_2_0)
    fail(IMB_BAD_ANSWER, "the server at " + shown(place().url, 200) + " does not speak HTTP/2");
  has_connection_ = !is_encrypted(place());
}

void Http2Exchange::refuse(CURLcode code) {
  if (had_connection_ && breaks_prior_knowledge() && transfer_.opened_connections() > 0)
    fail(IMB_SERVER_RESET, "the server at " + shown(place().url, 200) + " closed the connection between two requests");
  fail_with(code, transfer_.words(), transfer_.system_error());
}

std::optional<std::string> Http2Exchange::field(const char* name, unsigned origin) const {
  curl_header* found = nullptr;
  if (curl_easy_header(transfer_.easy(), name, 0, origin, -1, &found) != CURLHE_OK) return std::nullopt;
  return std::string(found->value);
}

std::optional<std::string> Http2Exchange::header(const char* name) const { return field(name, CURLH_HEADER); }

std::optional<std::string> Http2Exchange::trailer(const char* name) const {
  return field(name, CURLH_TRAILER | CURLH_HEADER);
}

std::string Http2Exchange::transport() const {
  return std::string("HTTP/2") + (is_encrypted(place()) ? " over TLS" : "") + ", connection kept alive";
}

}  // namespace infermeter
