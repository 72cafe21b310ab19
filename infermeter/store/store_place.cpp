#include "infermeter/store/store_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "infermeter/store/libpq.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

constexpr std::string_view url_beginnings[] = {"postgresql://", "postgres://"};

bool is_postgres_url(std::string_view text) {
  return std::ranges::any_of(url_beginnings, [&](std::string_view beginning) { return text.starts_with(beginning); });
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "service=team", "host=db dbname=results": words of libpq, of which a path can have the look only if it is odd.
bool is_key_and_value(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, is_word_character);
  return end != text.begin() && end != text.end() && *end == '=';
}

// "mysql://", "postgres:", "postgresql:/host": what is meant is a database.
std::string_view other_scheme(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const auto scheme = text.substr(0, colon);
  if (text.substr(colon).starts_with("://")) return scheme;
  return scheme == "postgres" || scheme == "postgresql" || scheme == "jdbc" ? scheme : std::string_view();
}

// Between "//" and the host: USER:PASSWORD@. Looked for before anything of the text is said.
bool has_password_in_url(std::string_view text) {
  const auto begin = text.find("://");
  if (begin == std::string_view::npos) return false;
  const auto authority = text.substr(begin + 3, text.find('/', begin + 3) - begin - 3);
  const auto at = authority.rfind('@');
  return at != std::string_view::npos && authority.substr(0, at).find(':') != std::string_view::npos;
}

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { libpq().PQconninfoFree(options); }
};
using Options = std::unique_ptr<PQconninfoOption, FreeOptions>;

std::string value_of(const Options& options, std::string_view keyword) {
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->keyword == keyword) return option->val == nullptr ? "" : option->val;
  }
  return {};
}

Error password_given(std::string_view word) {
  return usage_error(fmt::format(
      "--store holds a {}, which everybody could read in the list of processes: leave it out and keep it in "
      "~/.pgpass (or the file that PGPASSFILE names), or name a service of ~/.pg_service.conf "
      "(--store service=NAME)",
      word));
}

// Who logs in is no part of the name.
std::string shown_database(const Options& options) {
  if (const auto service = value_of(options, "service"); !service.empty()) return "service=" + service;
  const auto host = value_of(options, "host").empty() ? value_of(options, "hostaddr") : value_of(options, "host");
  const auto port = value_of(options, "port");
  const bool is_folder = host.starts_with('/');
  return fmt::format("postgresql://{}{}/{}{}", is_folder ? "" : host, port.empty() || is_folder ? "" : ":" + port,
                     value_of(options, "dbname"), is_folder ? "?host=" + host : "");
}

}  // namespace

Result<StorePlace> StorePlace::from_text(std::string_view text) {
  if (text.empty())
    return usage_error("--store names nothing: give postgresql://HOST/DATABASE, service=NAME or a file");
  if (text.find('\0') != std::string_view::npos) return usage_error("--store holds a NUL character");
  if (has_password_in_url(text)) return password_given("password");
  if (!is_postgres_url(text) && !is_key_and_value(text)) {
    if (const auto scheme = other_scheme(text); !scheme.empty()) {
      return usage_error(
          fmt::format("--store {} is not a store: it takes postgresql://HOST/DATABASE, "
                      "postgresql:///DATABASE?host=/FOLDER/OF/SOCKET, service=NAME, or an SQLite file",
                      in_quotes(text)));
    }
    return StorePlace(std::filesystem::path(text));
  }
  INFERMETER_TRY_DONE(load_libpq());
  StorePlace place;
  place.connection_ = text;
  char* complaint = nullptr;
  const Options options(libpq().PQconninfoParse(place.connection_.c_str(), &complaint));
  const std::unique_ptr<char, void (*)(void*)> owned(complaint, libpq().PQfreemem);
  if (options == nullptr) {
    std::string why = complaint == nullptr ? "memory ran out" : complaint;
    while (why.ends_with('\n')) why.pop_back();
    return usage_error(fmt::format("--store {} cannot be read: {}", in_quotes(text), printable(why)));
  }
  for (const char* const secret : {"password", "sslpassword"}) {
    if (!value_of(options, secret).empty()) return password_given(secret);
  }
  place.shown_ = printable(shown_database(options));
  return place;
}

std::string StorePlace::shown() const { return is_database() ? shown_ : printable(file_.string(), 4096); }

bool StorePlace::may_exist() const {
  std::error_code error;
  return is_database() || std::filesystem::exists(file_, error);
}

Result<StorePlace> store_place(const Plan& plan) {
  if (!plan.store.empty()) return StorePlace::from_text(plan.store);
  return StorePlace(std::filesystem::path(plan.output_dir) / "infermeter.db");
}

}  // namespace infermeter
