// CHECK: our own bug, not the user's. Prints where and aborts; never used on input.
#pragma once

namespace infermeter {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace infermeter

#define INFERMETER_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::infermeter::check_failed(#condition, __FILE__, __LINE__))
