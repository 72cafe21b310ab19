// JitNames: a map of generated code, as `perf` reads it: "begin size name" per line, in hexadecimal.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace infermeter {

class JitNames {
 public:
  static constexpr std::size_t most = 1'000'000;  // lines that are kept

  // Lines that are none are left out; of two for one address the later one counts, as memory is used again.
  explicit JitNames(std::string_view text);

  // Without the number that generators count by ("kernel.46"). Empty: not known.
  [[nodiscard]] std::string name_at(std::uint64_t address) const;

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
    std::string_view name;
  };
  static void add_where_free(std::map<std::uint64_t, Range>& known, const Range& range);

  std::string text_;
  std::vector<Range> ranges_;  // apart, by their begins
};

}  // namespace infermeter
