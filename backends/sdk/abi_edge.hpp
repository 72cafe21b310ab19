// The edge between C++ and the back-end ABI: inside a plug-in whatever goes wrong is a Failure; none crosses the edge.
#pragma once

#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "infermeter_backend.h"

namespace infermeter {

// Thrown inside a plug-in, caught by `guarded`.
struct Failure {
  imb_status status;
  std::string message;
};

[[noreturn]] inline void fail(imb_status status, std::string message) { throw Failure{status, std::move(message)}; }

// How many of `text`'s first bytes fit into `limit` without cutting a UTF-8 sequence.
inline std::size_t utf8_prefix(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text.size();
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0u) == 0x80u) --limit;
  return limit;
}

// One line, NUL-terminated, cut to the buffer. Runtimes quote names out of the model: control characters become spaces.
inline void write_message(imb_message message, std::string_view text) noexcept {
  if (message.text == nullptr || message.capacity == 0) return;
  const std::size_t size = utf8_prefix(text, message.capacity - 1);
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    message.text[i] = byte < 0x20 || byte == 0x7F ? ' ' : text[i];
  }
  message.text[size] = '\0';
}

inline imb_status succeed(imb_message message) noexcept {
  if (message.text != nullptr && message.capacity != 0) message.text[0] = '\0';
  return IMB_OK;
}

// Runs `body`; turns what it throws into a status and a sentence.
template <class Body>
imb_status guarded(imb_message message, imb_status otherwise, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return succeed(message);
  } catch (const Failure& failure) {
    write_message(message, failure.message);
    return failure.status;
  } catch (const std::bad_alloc&) {
    write_message(message, "not enough memory");
    return IMB_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    write_message(message, error.what());
    return otherwise;
  } catch (...) {
    write_message(message, "an exception of unknown type");
    return otherwise;
  }
}

}  // namespace infermeter
