#include "infermeter/worker/server_access.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "infermeter/plan/server_url.hpp"
#include "infermeter/text/quoted.hpp"
#include "infermeter/worker/wall/file_descriptor.hpp"
#include "infermeter/worker/wall/server_addresses.hpp"

namespace infermeter {
namespace {

constexpr std::size_t longest_token = 16 * 1024;

// A header's value holds no control characters; a file's last line ends with one.
Result<std::string> checked_token(std::string text, const std::string& where) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (text.empty()) return usage_error(fmt::format("{} is empty: it is to hold the server's token", where));
  if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; }))
    return usage_error(fmt::format(
        "{} contains no token: a blank, a control character or a letter that is not ASCII is in it", where));
  return text;
}

Result<std::string> token_of_file(const std::string& path) {
  const std::string where = fmt::format("token_file={}", printable(path, 200));
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return usage_error(fmt::format("{} cannot be read: {}", where, std::strerror(errno)));
  struct stat status{};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return usage_error(fmt::format("{} is not a regular file", where));
  std::array<char, longest_token + 1> bytes{};
  const ssize_t size = read(file.get(), bytes.data(), bytes.size());
  if (size < 0) return usage_error(fmt::format("{} cannot be read: {}", where, std::strerror(errno)));
  if (static_cast<std::size_t>(size) > longest_token)
    return usage_error(fmt::format("{} contains no token: it has more than {} bytes", where, longest_token));
  return checked_token(std::string(bytes.data(), static_cast<std::size_t>(size)), where);
}

Result<std::string> token_of(const Subject& subject) {
  if (const auto file = option_of(subject, kTokenFileOption); !file.empty()) return token_of_file(std::string(file));
  const std::string variable(option_of(subject, kTokenVariableOption));
  if (variable.empty()) return std::string();
  const char* const value = std::getenv(variable.c_str());
  const std::string where = fmt::format("the variable {}", printable(variable, 100));
  if (value == nullptr)
    return usage_error(fmt::format("{} is not set: token_variable= says that the token is there", where));
  return checked_token(value, where);
}

}  // namespace

Result<ServerAccess> access_to_server(const Subject& subject) {
  INFERMETER_TRY(const ServerUrl url, server_url_from_string(option_of(subject, kUrlOption)));
  ServerAccess access;
  INFERMETER_TRY(access.token, token_of(subject));
  INFERMETER_TRY(const auto addresses, addresses_of_host(url.host, url.port));
  access.addresses = addresses_to_string(addresses);
  return access;
}

}  // namespace infermeter
