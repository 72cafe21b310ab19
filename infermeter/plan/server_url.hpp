// A model that a server has: the options of a subject that say where the server is, and how it is spoken to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/plan/plan.hpp"

namespace infermeter {

// These options mean the same for every back end that measures servers. A host of ours acts on them, so that the back
// end needs neither names nor secrets: it resolves the URL's host, opens the sandbox for it, and reads the token.
inline constexpr std::string_view kUrlOption = "url";
inline constexpr std::string_view kCertificateOption = "ca";                // a file of certificates to trust
inline constexpr std::string_view kTokenFileOption = "token_file";          // the token is in this file
inline constexpr std::string_view kTokenVariableOption = "token_variable";  // or in this variable of the environment

// Does it decide whom a worker may speak to, whom it trusts, or what it gives away? Such an option in a file that came
// from elsewhere needs --allow-code.
[[nodiscard]] bool is_server_option(std::string_view key);

// Empty: the subject is measured in the worker itself.
[[nodiscard]] std::string_view option_of(const Subject& subject, std::string_view key);
[[nodiscard]] inline bool is_on_server(const Subject& subject) { return !option_of(subject, kUrlOption).empty(); }

struct ServerUrl {
  bool is_encrypted = false;  // https
  std::string host{};         // a name or an address; of IPv6 without brackets
  std::uint16_t port = 0;
};

// "http://HOST[:PORT][/PATH]" or https; HOST is a name, an IPv4 address or an IPv6 address in brackets. Without user
// and password (they would be stored with the plan), query and fragment. The error says what is wrong with it.
[[nodiscard]] Result<ServerUrl> server_url_from_string(std::string_view url);

// What can be known to be wrong with these options of a subject without looking at the network.
[[nodiscard]] Result<Done> check_server_options(const Subject& subject);

}  // namespace infermeter
