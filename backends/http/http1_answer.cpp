#include "http/http1_answer.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <vector>

namespace infermeter {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

// Places in one text, which grows.
struct Field {
  std::size_t begin = 0, name_size = 0, value_size = 0;
};

constexpr int switching_protocols = 101;

bool is_interim(long status) { return status / 100 == 1; }

}  // namespace

// Beast's parsers are of one answer each; what is kept of it is behind it.
class Http1Answer::Parser {
 public:
  explicit Parser(Body& body) : body_(body) {}

  void begin(std::size_t most_headers, std::uint64_t most_body) {
    most_headers_ = most_headers;
    most_body_ = most_body;
    interim_ = 0;
    begin_answer();
  }

  State parse(std::string_view& bytes) {
    while (!bytes.empty()) {
      beast::error_code error;
      const std::size_t taken = one_->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
      bytes.remove_prefix(taken);
      if (!error || error == http::error::need_more) check_size(error);
      if (error && error != http::error::need_more) return state_of(error);
      if (one_->is_done() && status_ == switching_protocols) {
        words_ = "it answers with another protocol";
        return State::broken;
      }
      if (one_->is_done() && !is_interim(status_)) return State::done;
      if (one_->is_done()) {
        constexpr std::size_t first_line = 16;  // at least
        interim_ += first_line + text_.size();
        if (interim_ > most_headers_) return State::too_many_headers;
        begin_answer();
      } else if (error || taken == 0) {
        break;
      }
    }
    return State::needs_more;
  }

  State end() {
    beast::error_code error;
    if (one_->got_some()) one_->put_eof(error);
    if (error && error != http::error::partial_message) return state_of(error);
    return one_->is_done() && !is_interim(status_) ? State::done : State::needs_more;
  }

  [[nodiscard]] std::optional<std::string> find(std::string_view name, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      const Field& field = fields_[i];
      const std::string_view all = std::string_view(text_).substr(field.begin);
      if (beast::iequals({name.data(), name.size()}, {all.data(), field.name_size}))
        return std::string(all.substr(field.name_size, field.value_size));
    }
    return std::nullopt;
  }

  [[nodiscard]] long status() const { return status_; }
  [[nodiscard]] bool keeps_connection() const { return one_ && one_->is_header_done() && one_->keep_alive(); }
  [[nodiscard]] std::string_view words() const { return words_; }
  [[nodiscard]] std::size_t headers() const { return headers_; }
  [[nodiscard]] std::size_t fields() const { return fields_.size(); }

 private:
  class One final : public http::basic_parser<false> {
   public:
    explicit One(Parser& of) : of_(of) {}

   private:
    using Text = beast::string_view;
    using Error = beast::error_code;

    void on_request_impl(http::verb, Text, Text, int, Error&) override {}
    void on_response_impl(int status, Text, int, Error&) override { of_.status_ = status; }
    void on_field_impl(http::field, Text name, Text value, Error& error) override {
      of_.keep({name.data(), name.size()}, {value.data(), value.size()}, error);
    }
    void on_header_impl(Error&) override { of_.headers_ = of_.fields_.size(); }
    void on_body_init_impl(const boost::optional<std::uint64_t>&, Error& error) override { of_.check_size(error); }
    std::size_t on_body_impl(Text bytes, Error& error) override { return of_.put(bytes, error); }
    void on_chunk_header_impl(std::uint64_t, Text, Error&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, Text bytes, Error& error) override { return of_.put(bytes, error); }
    void on_finish_impl(Error&) override {}

    Parser& of_;
  };

  void begin_answer() {
    one_.emplace(*this);
    one_->eager(true);
    one_->header_limit(static_cast<std::uint32_t>(most_headers_));
    one_->body_limit(std::numeric_limits<std::uint64_t>::max());  // it would withhold what fits
    fields_.clear();
    text_.clear();
    words_.clear();
    status_ = 0;
    headers_ = 0;
  }

  // As soon as it is told, whether any of the body is there or not.
  void check_size(beast::error_code& error) const {
    const auto size = one_->is_header_done() ? one_->content_length() : boost::none;
    if (size && *size > most_body_) error = http::error::body_limit;
  }

  void keep(std::string_view name, std::string_view value, beast::error_code& error) {
    if (text_.size() + name.size() + value.size() > most_headers_) {  // Beast has no limit of trailers
      error = http::error::header_limit;
      return;
    }
    fields_.push_back({.begin = text_.size(), .name_size = name.size(), .value_size = value.size()});
    text_.append(name).append(value);
  }

  std::size_t put(beast::string_view bytes, beast::error_code& error) {
    if (bytes.empty() || body_.take({bytes.data(), bytes.size()})) return bytes.size();
    error = http::error::end_of_stream;  // which Beast's parser itself never says
    return 0;
  }

  State state_of(const beast::error_code& error) {
    words_ = error.message();
    if (error == http::error::header_limit) return State::too_many_headers;
    if (error == http::error::body_limit) return State::too_large;
    return error == http::error::end_of_stream ? State::stopped : State::broken;
  }

  Body& body_;
  boost::optional<One> one_;
  std::vector<Field> fields_;
  std::string text_, words_;
  std::size_t most_headers_ = 0, headers_ = 0;  // headers_: of the fields
  std::size_t interim_ = 0;                     // bytes of the answers before the one
  std::uint64_t most_body_ = 0;
  long status_ = 0;
};

Http1Answer::Http1Answer(Body& body) : parser_(std::make_unique<Parser>(body)) {}
Http1Answer::~Http1Answer() = default;

void Http1Answer::begin(std::size_t most_headers, std::uint64_t most_body) { parser_->begin(most_headers, most_body); }
Http1Answer::State Http1Answer::parse(std::string_view& bytes) { return parser_->parse(bytes); }
Http1Answer::State Http1Answer::end() { return parser_->end(); }
long Http1Answer::status() const { return parser_->status(); }
bool Http1Answer::keeps_connection() const { return parser_->keeps_connection(); }
std::string_view Http1Answer::words() const { return parser_->words(); }

std::optional<std::string> Http1Answer::header(std::string_view name) const {
  return parser_->find(name, parser_->headers());
}

std::optional<std::string> Http1Answer::trailer(std::string_view name) const {
  return parser_->find(name, parser_->fields());
}

}  // namespace infermeter
