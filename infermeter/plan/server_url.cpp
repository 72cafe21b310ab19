#include "infermeter/plan/server_url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::array<std::string_view, 5> server_options = {kUrlOption, kCertificateOption, kTokenFileOption,
                                                            kTokenVariableOption, "verify"};
constexpr std::size_t longest_host = 253, longest_url = 2000;

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit(char c) { return is_ascii_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool may_be_in_name(char c) { return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_'; }
bool may_be_in_address(char c) {
  return is_ascii_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}
bool may_be_in_path(char c) { return c > ' ' && c < '\x7f' && c != '?' && c != '#' && c != '\\'; }

Error no_url(std::string_view url, std::string_view why) {
  return usage_error(
      fmt::format("url={} is not a URL of a server: {}; give url=http://HOST:PORT", printable(url, 200), why));
}

Result<std::uint16_t> port_from_string(std::string_view url, std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0)
    return no_url(url, fmt::format("'{}' is not a port from 1 to 65535", printable(text, 40)));
  return port;
}

}  // namespace

bool is_server_option(std::string_view key) { return std::ranges::find(server_options, key) != server_options.end(); }

std::string_view option_of(const Subject& subject, std::string_view key) {
  const auto found = std::ranges::find(subject.options, key, &Pairs::value_type::first);
  return found == subject.options.end() ? std::string_view() : std::string_view(found->second);
}

Result<ServerUrl> server_url_from_string(std::string_view url) {
  ServerUrl parts;
  std::string_view rest = url;
  if (url.size() > longest_url) return no_url(url, fmt::format("it has more than {} characters", longest_url));
  if (rest.starts_with("http://")) {
    parts.port = 80;
    rest.remove_prefix(7);
  } else if (rest.starts_with("https://")) {
    parts.is_encrypted = true;
    parts.port = 443;
    rest.remove_prefix(8);
  } else {
    return no_url(url, "it does not begin with http:// or https://");
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  if (!std::ranges::all_of(rest, may_be_in_path))
    return no_url(url, "a '?', '#', '\\', blank or control character is in it, or a letter that is not ASCII");
  std::string_view place = rest.substr(0, slash);
  if (place.find('@') != std::string_view::npos)
    return usage_error(
        "a url with a user or password in it would be stored with the plan: give token_file=FILE or "
        "token_variable=NAME instead");
  std::string_view port;
  bool has_port = false;
  if (place.starts_with('[')) {
    const std::size_t bracket = place.find(']');
    if (bracket == std::string_view::npos) return no_url(url, "its '[' is not closed");
    parts.host = place.substr(1, bracket - 1);
    if (!std::ranges::all_of(parts.host, may_be_in_address)) return no_url(url, "in brackets stands no IPv6 address");
    place.remove_prefix(bracket + 1);
    has_port = !place.empty();
    if (has_port && !place.starts_with(':')) return no_url(url, "behind the ']' stands no ':PORT'");
    port = place.substr(has_port ? 1 : 0);
  } else {
    const std::size_t colon = std::min(place.find(':'), place.size());
    parts.host = place.substr(0, colon);
    if (!std::ranges::all_of(parts.host, may_be_in_name))
      return no_url(url, fmt::format("'{}' is not a name of a host", printable(parts.host, 80)));
    has_port = colon < place.size();
    port = place.substr(std::min(colon + 1, place.size()));
  }
  if (parts.host.empty()) return no_url(url, "it names no host");
  if (parts.host.size() > longest_host) return no_url(url, "the name of its host is too long");
  if (has_port) {
    INFERMETER_TRY(parts.port, port_from_string(url, port));
  }
  return parts;
}

Result<Done> check_server_options(const Subject& subject) {
  if (!is_on_server(subject)) return Done{};
  INFERMETER_TRY_DONE(server_url_from_string(option_of(subject, kUrlOption)));
  if (!option_of(subject, kTokenFileOption).empty() && !option_of(subject, kTokenVariableOption).empty())
    return usage_error("token_file and token_variable exclude each other: give one of them");
  if (subject.threads > 0)
    return usage_error(fmt::format("a server decides on its threads itself, and {} were asked for: leave out threads=",
                                   subject.threads));
  return Done{};
}

}  // namespace infermeter
