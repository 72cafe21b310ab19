// PyTorch's exceptions as Failures of one sentence.
#pragma once

#include <exception>
#include <string_view>
#include <utility>

#include "sdk/abi_edge.hpp"

namespace infermeter {

// Of the exception that is being handled: IMB_OUT_OF_MEMORY if it speaks of memory, and `otherwise` if not.
[[noreturn]] void fail_with_current(imb_status otherwise, std::string_view what);

// Runs `body`. What PyTorch throws becomes "WHAT: why"; Failures pass.
template <class Body>
decltype(auto) in_torch(imb_status otherwise, std::string_view what, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const Failure&) {
    throw;
  } catch (...) {
    fail_with_current(otherwise, what);
  }
}

}  // namespace infermeter
