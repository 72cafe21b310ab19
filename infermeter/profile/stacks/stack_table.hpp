// StackProfile while it is filled: equal frames and threads get one number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/stack_profile.hpp"

namespace infermeter {

class StackTable {
 public:
  Result<std::uint32_t> frame(std::string_view symbol, std::string_view module, std::uint64_t offset);
  Result<std::uint32_t> thread(std::string_view name);
  // False: there are as many as are kept.
  bool add(StackSample sample);

  StackProfile& profile() { return profile_; }
  StackProfile take() { return std::move(profile_); }

 private:
  StackProfile profile_;
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::uint32_t> frames_;
  std::map<std::string, std::uint32_t, std::less<>> threads_;
};

// The next line without its end, taken off `text`; `complete`: it had one.
struct TextLine {
  std::string_view text;
  bool complete = false;
};
[[nodiscard]] TextLine take_line(std::string_view& text);

}  // namespace infermeter
