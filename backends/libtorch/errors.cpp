#include "errors.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <string_view>

namespace infermeter {
namespace {

constexpr std::size_t longest = 400;

std::string current_text() {
  try {
    throw;
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

// An error inside of TorchScript is reported with the lines of the program that led to it: only what is behind them
// counts. Otherwise the first line says what it is, and the others where in PyTorch, or what to do about its Python.
std::string useful_part(std::string_view text) {
  constexpr std::string_view advice = ". This is an internal";  // and how a checkpoint may have been damaged
  constexpr std::string_view trace = "Traceback of TorchScript", kind = "Error: ";
  if (text.find(trace) != std::string_view::npos) {
    if (const std::size_t at = text.rfind(kind); at != std::string_view::npos) text.remove_prefix(at + kind.size());
  }
  if (text.starts_with("[enforce fail at ")) text.remove_prefix(std::min(text.find("] ") + 2, text.size()));
  while (!text.empty() && std::string_view("\n .").find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  text = text.substr(0, text.find(advice));
  text = text.substr(0, text.find('\n'));
  while (text.ends_with(' ') || text.ends_with('.') || text.ends_with(':')) text.remove_suffix(1);
  return std::string(text.substr(0, utf8_prefix(text, longest)));
}

bool speaks_of_memory(const std::string& text) {
  return text.find("can't allocate memory") != std::string::npos || text.find("out of memory") != std::string::npos ||
         text.find("bad_alloc") != std::string::npos;
}

}  // namespace

void fail_with_current(imb_status otherwise, std::string_view what) {
  const std::string text = current_text();
  fail(speaks_of_memory(text) ? IMB_OUT_OF_MEMORY : otherwise, std::string(what) + ": " + useful_part(text));
}

}  // namespace infermeter
