// ModuleSymbols: the functions of a program or library on disk. Addresses are the file's own (ELF's virtual addresses).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/samples/raw_stacks.hpp"

namespace infermeter {

class ModuleSymbols {
 public:
  struct Function {
    std::uint64_t begin = 0;
    std::string name;  // demangled; empty: it has none
  };
  struct Segment {
    std::uint64_t file_offset = 0, size = 0, address = 0;
  };

  // nullptr: the file is not the one that was mapped, or no ELF file.
  [[nodiscard]] static std::unique_ptr<ModuleSymbols> read(const MappedCode& code);
  ModuleSymbols(const ModuleSymbols&) = delete;
  ModuleSymbols& operator=(const ModuleSymbols&) = delete;
  ~ModuleSymbols();

  // Where a byte of the file is mapped to by its own account.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;
  // Without a symbol: as the unwind table has it; what lies between two functions of the table is taken for one, from
  // the end of the first: assembly is often not in the table. nullopt: there is neither.
  [[nodiscard]] std::optional<Function> function_at(std::uint64_t address) const;
  // Open for reading, as long as this is.
  [[nodiscard]] int descriptor() const;

 private:
  struct Contents;
  explicit ModuleSymbols(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

struct FunctionRange {
  std::uint64_t begin = 0, end = 0;  // end == begin: not reported
  bool operator==(const FunctionRange&) const = default;
};
// Of a file whose .eh_frame_hdr (Linux Standard Base, 10.6.2; the form that all linkers write) lies at `offset` and is
// loaded to `address`, with .eh_frame in the same segment: its functions, sorted. Empty: another form, or damaged.
[[nodiscard]] std::vector<FunctionRange> function_ranges(std::span<const std::byte> file, std::uint64_t offset,
                                                         std::uint64_t size, std::uint64_t address);

// "ns::f(int)" of "_ZN2ns1fEi"; what is no such name, or beyond bounds, stays. Valid UTF-8 without control characters.
[[nodiscard]] std::string readable_symbol(std::string_view symbol);

}  // namespace infermeter
