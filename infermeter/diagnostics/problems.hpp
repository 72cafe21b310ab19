// Problems: all that is wrong, said at once instead of one at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

class Problems {
 public:
  // The same sentence is kept once.
  void add(Error problem);
  // Keeps what went wrong, if something did; whether all was well.
  template <class T>
  bool take(const Result<T>& result) {
    if (!result.ok()) add(result.error());
    return result.ok();
  }
  void add_all(const Problems& others);

  [[nodiscard]] bool none() const { return found_.empty(); }
  [[nodiscard]] const std::vector<Error>& found() const { return found_; }
  // One problem is its own Error; several are one usage Error with a line for each. `so`: what follows from them.
  [[nodiscard]] Result<Done> result(std::string_view so = "nothing was measured") const;

 private:
  std::vector<Error> found_;
};

}  // namespace infermeter
