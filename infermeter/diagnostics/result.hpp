// Result<T>: a value, or one sentence that says why there is none.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "infermeter/diagnostics/check.hpp"

namespace infermeter {

// What kind of bad news it is. The command line turns it into its exit code (docs/cli.md).
enum class ErrorKind {
  usage,     // what was asked for cannot be done as asked: 2
  model,     // a model failed to load or to run: 3
  worker,    // a worker crashed, timed out or ran out of memory: 4
  io,        // a file could not be read or written: 2
  internal,  // our own fault, or the system's: 2
};

[[nodiscard]] std::string_view to_string(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::usage;
  // What, where, why, and the option that helps; one sentence, never empty. Several problems (diagnostics/problems.hpp)
  // have a line each.
  std::string message;
};

[[nodiscard]] inline Error usage_error(std::string message) { return {ErrorKind::usage, std::move(message)}; }
[[nodiscard]] inline Error model_error(std::string message) { return {ErrorKind::model, std::move(message)}; }
[[nodiscard]] inline Error worker_error(std::string message) { return {ErrorKind::worker, std::move(message)}; }
[[nodiscard]] inline Error io_error(std::string message) { return {ErrorKind::io, std::move(message)}; }
[[nodiscard]] inline Error internal_error(std::string message) { return {ErrorKind::internal, std::move(message)}; }

// Nothing to return but success: Result<Done>.
struct Done {};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}     // NOLINT(google-explicit-constructor): `return value;` is the point
  Result(Error error) : state_(std::move(error)) {  // NOLINT(google-explicit-constructor): likewise
    INFERMETER_CHECK(!std::get<Error>(state_).message.empty());
  }

  [[nodiscard]] bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & {
    INFERMETER_CHECK(ok());
    return std::get<T>(state_);
  }
  [[nodiscard]] const T& value() const& {
    INFERMETER_CHECK(ok());
    return std::get<T>(state_);
  }
  [[nodiscard]] T&& value() && {
    INFERMETER_CHECK(ok());
    return std::get<T>(std::move(state_));
  }
  [[nodiscard]] const Error& error() const {
    INFERMETER_CHECK(!ok());
    return std::get<Error>(state_);
  }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace infermeter

// `INFERMETER_TRY(auto plan, read_plan(path));` hands an error on to the caller.
#define INFERMETER_CONCAT_INNER(a, b) a##b
#define INFERMETER_CONCAT(a, b) INFERMETER_CONCAT_INNER(a, b)
#define INFERMETER_TRY(declaration, expression) \
  INFERMETER_TRY_INNER(INFERMETER_CONCAT(result_, __LINE__), declaration, expression)
#define INFERMETER_TRY_INNER(name, declaration, expression) \
  auto name = (expression);                                 \
  if (!name.ok()) return name.error();                      \
  declaration = std::move(name).value()
// `INFERMETER_TRY_DONE(write(path));` where there is no value.
#define INFERMETER_TRY_DONE(expression)        \
  do {                                         \
    auto result_ = (expression);               \
    if (!result_.ok()) return result_.error(); \
  } while (false)
