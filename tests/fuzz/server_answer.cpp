// What a server answers, as the back end kserve reads it. Its parts are in a namespace of their own here
// (CMakeLists.txt): back ends know nothing of the library, and have names of its own for other things.
#include <cstdlib>
#include <string_view>

#include "http/json_text.hpp"
#include "kserve/infer_answer.hpp"
#include "kserve/metadata.hpp"
#include "sdk/abi_edge.hpp"
#include "tests/fuzz/server_answer.hpp"

namespace {

template <class Read>
void is_taken_or_refused(Read&& read) {
  try {
    read();
  } catch (const infermeter::Failure& failure) {
    if (failure.message.empty()) std::abort();
  }
}

}  // namespace

// The first line is the size of the JSON at the body's beginning, or empty.
void read_server_answer(std::string_view text) {
  const std::size_t line = text.find('\n');
  const std::string_view body = line == std::string_view::npos ? text : text.substr(line + 1);
  const std::size_t json_size = std::strtoul(std::string(text.substr(0, 20)).c_str(), nullptr, 10);
  is_taken_or_refused([&] { static_cast<void>(infermeter::outputs_from(body, std::nullopt)); });
  is_taken_or_refused([&] { static_cast<void>(infermeter::outputs_from(body, json_size)); });
  is_taken_or_refused([&] { static_cast<void>(infermeter::model_metadata_from(body)); });
  is_taken_or_refused([&] { static_cast<void>(infermeter::server_metadata_from(body)); });
  for (const char byte : infermeter::told_error(body).substr(0, 1000))
    if (static_cast<unsigned char>(byte) < ' ') std::abort();
}
