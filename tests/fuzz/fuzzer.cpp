// One target as libFuzzer wants it. FUZZ_TARGET: its name.
#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  infermeter::fuzz::FUZZ_TARGET({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
