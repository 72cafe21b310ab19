#include "infermeter/diagnostics/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace infermeter {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "infermeter: bug: %s is not true at %s:%d; please report it with the command that led here\n",
               condition, file, line);
  std::abort();
}

}  // namespace infermeter
