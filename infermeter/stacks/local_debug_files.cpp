#include "infermeter/stacks/local_debug_files.hpp"

namespace infermeter {
namespace {

// Every module is reported with its file.
int no_other_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

}  // namespace

const Dwfl_Callbacks& local_debug_files() {
  static const Dwfl_Callbacks callbacks{.find_elf = no_other_elf,
                                        .find_debuginfo = dwfl_build_id_find_debuginfo,
                                        .section_address = nullptr,
                                        .debuginfo_path = nullptr};
  return callbacks;
}

}  // namespace infermeter
