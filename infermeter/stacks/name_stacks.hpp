// Addresses -> names: what was sampled of a process becomes a StackProfile. Reads the files that the process had
// mapped, where they are still the same; whatever cannot be read leaves frames without a symbol.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "infermeter/samples/raw_stacks.hpp"
#include "infermeter/samples/stack_profile.hpp"
#include "infermeter/stacks/module_symbols.hpp"

namespace infermeter {

// Files that were read already: the next trial maps the same ones.
class ModuleCache {
 public:
  // nullptr: it cannot be read.
  [[nodiscard]] const ModuleSymbols* symbols_of(const MappedCode& code);

 private:
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint64_t>;  // path, device, inode
  std::map<Key, std::unique_ptr<ModuleSymbols>> modules_;
};

// A frame is a function: by its symbol; without one by its file and where in it the function begins
// (ModuleSymbols::function_at). Generated code is in "[jit]", by its name in the map of it. A caller's address that
// lies in no code ends a stack: a register that is no frame pointer was followed. Threads: "main", then as the kernel
// names them. Samples keep their order.
[[nodiscard]] StackProfile name_stacks(const RawStacks& stacks, ModuleCache& modules);

}  // namespace infermeter
