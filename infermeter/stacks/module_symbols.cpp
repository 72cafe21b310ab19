#include "infermeter/stacks/module_symbols.hpp"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "infermeter/stacks/local_debug_files.hpp"
#include "infermeter/text/utf8.hpp"

namespace infermeter {
namespace {

constexpr std::size_t longest_symbol = 4096;   // bytes, as it is shown
constexpr std::size_t longest_mangled = 1024;  // what is longer is not demangled
// Nor is what refers to its own parts more often: with n of them a text grows up to exp(n / e) times, and 200 bytes can
// be made to fill all memory.
constexpr std::ptrdiff_t most_references = 20;
constexpr std::size_t most_symbols = 4'000'000;

struct Symbol {
  std::uint64_t begin = 0, end = 0;
  const char* name = nullptr;  // in the file's memory
};

// Not the name of a function: labels within one have no size and are of no type. "$x" marks code on Arm.
bool is_function(const GElf_Sym& symbol, const char* name) {
  const unsigned char type = GELF_ST_TYPE(symbol.st_info);
  if (symbol.st_shndx == SHN_UNDEF || name == nullptr || *name == '\0' || *name == '$') return false;
  return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && symbol.st_size > 0);
}

// By address; of several at one address the first of the longest ones.
std::vector<Symbol> symbols_of(Dwfl_Module* module, std::uint64_t bias) {
  std::vector<Symbol> symbols;
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count && symbols.size() < most_symbols; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    const char* const name = dwfl_module_getsym_info(module, i, &symbol, &address, nullptr, nullptr, nullptr);
    if (!is_function(symbol, name) || address < bias || symbol.st_size > ~std::uint64_t{0} - address) continue;
    symbols.push_back({.begin = address - bias, .end = address - bias + symbol.st_size, .name = name});
  }
  std::ranges::stable_sort(
      symbols, [](const Symbol& a, const Symbol& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  return symbols;
}

template <class T>
bool read_at(std::span<const std::byte> bytes, std::uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

// As the kernel shows where the file is mapped: on btrfs and overlayfs with another device than stat's.
bool is_mapped_as(int descriptor, const MappedCode& code) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, page, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  bool is_same = false;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, inode = 0;
    unsigned device_major = 0, device_minor = 0;
    const int read =
        std::sscanf(line.c_str(), "%lx-%*x %*s %*x %x:%x %lu", &begin, &device_major, &device_minor, &inode);
    if (read != 4 || begin != address) continue;
    is_same = inode == code.inode && device_major == code.device_major && device_minor == code.device_minor;
    break;
  }
  munmap(memory, page);
  return is_same;
}

bool is_same_file(int descriptor, const MappedCode& code) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const bool is_same = status.st_ino == code.inode && major(status.st_dev) == code.device_major &&
                       minor(status.st_dev) == code.device_minor;
  return is_same || is_mapped_as(descriptor, code);
}

// Of substitutions and template parameters: S_, S4_, T_, T12_. What looks like one counts, too.
std::ptrdiff_t references_in(std::string_view mangled) {
  std::ptrdiff_t count = 0;
  for (std::size_t at = mangled.find_first_of("ST"); at != std::string_view::npos;
       at = mangled.find_first_of("ST", at + 1)) {
    const std::size_t end = mangled.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", at + 1);
    if (end != std::string_view::npos && mangled[end] == '_') ++count;
  }
  return count;
}

}  // namespace

struct ModuleSymbols::Contents {
  ~Contents() {
    if (dwfl != nullptr) dwfl_end(dwfl);
    if (descriptor >= 0) close(descriptor);
  }

  // The kernel maps whole pages: with what lies in the file before a segment that begins within one, as lld and mold
  // write them.
  void read_segments(Elf* elf) {
    std::size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) return;
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) continue;
      if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0) {
        const std::uint64_t before = std::min(header.p_offset, header.p_vaddr) % page;
        segments.push_back({.file_offset = header.p_offset - before,
                            .size = header.p_filesz + before,
                            .address = header.p_vaddr - before});
      }
      if (header.p_type == PT_GNU_EH_FRAME) read_ranges(elf, header);
    }
  }

  void read_ranges(Elf* elf, const GElf_Phdr& header) {
    std::size_t size = 0;
    const char* const bytes = elf_rawfile(elf, &size);
    if (bytes != nullptr)
      ranges = function_ranges(std::as_bytes(std::span(bytes, size)), header.p_offset, header.p_filesz, header.p_vaddr);
  }

  // Where the function, or the stretch between two, begins.
  [[nodiscard]] std::optional<std::uint64_t> begin_before(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(ranges, address, {}, &FunctionRange::begin);
    if (after == ranges.begin()) return std::nullopt;
    const FunctionRange& before = *std::prev(after);
    return address < before.end ? before.begin : before.end;
  }

  int descriptor = -1;
  Dwfl* dwfl = nullptr;  // owns the names
  std::vector<Segment> segments;
  std::vector<Symbol> symbols;
  std::vector<FunctionRange> ranges;
};

ModuleSymbols::ModuleSymbols(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
ModuleSymbols::~ModuleSymbols() = default;

std::unique_ptr<ModuleSymbols> ModuleSymbols::read(const MappedCode& code) {
  auto contents = std::make_unique<Contents>();
  contents->descriptor = open(code.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (contents->descriptor < 0 || !is_same_file(contents->descriptor, code)) return nullptr;
  contents->dwfl = dwfl_begin(&local_debug_files());
  if (contents->dwfl == nullptr) return nullptr;
  dwfl_report_begin(contents->dwfl);
  const int consumed = fcntl(contents->descriptor, F_DUPFD_CLOEXEC, 0);
  Dwfl_Module* const module = dwfl_report_elf(contents->dwfl, "module", code.path.c_str(), consumed, 0, false);
  if (module == nullptr && consumed >= 0) close(consumed);
  dwfl_report_end(contents->dwfl, nullptr, nullptr);
  GElf_Addr bias = 0;
  Elf* const elf = module == nullptr ? nullptr : dwfl_module_getelf(module, &bias);
  if (elf == nullptr) return nullptr;
  contents->read_segments(elf);
  contents->symbols = symbols_of(module, bias);
  return std::unique_ptr<ModuleSymbols>(new ModuleSymbols(std::move(contents)));
}

std::optional<std::uint64_t> ModuleSymbols::address_of(std::uint64_t file_offset) const {
  for (const Segment& segment : contents_->segments)
    if (file_offset >= segment.file_offset && file_offset - segment.file_offset < segment.size)
      return segment.address + (file_offset - segment.file_offset);
  return std::nullopt;
}

// A symbol without a size reaches to the next function's begin, as assembly has them.
std::optional<ModuleSymbols::Function> ModuleSymbols::function_at(std::uint64_t address) const {
  const auto begin = contents_->begin_before(address);
  const auto& symbols = contents_->symbols;
  auto symbol = std::ranges::upper_bound(symbols, address, {}, &Symbol::begin);
  constexpr int most_looked_at = 16;  // functions that lie within others
  for (int i = 0; i < most_looked_at && symbol != symbols.begin(); ++i) {
    --symbol;
    const bool reaches = address < symbol->end || (symbol->begin == symbol->end && symbol->begin >= begin.value_or(0));
    if (!reaches) continue;
    const auto first = std::ranges::lower_bound(symbols, symbol->begin, {}, &Symbol::begin);
    return Function{.begin = symbol->begin, .name = readable_symbol(first->name)};
  }
  if (!begin) return std::nullopt;
  return Function{.begin = *begin, .name = {}};
}

int ModuleSymbols::descriptor() const { return contents_->descriptor; }

// Version 1; a pointer of 4 bytes; a count of 4 bytes; pairs of 4 bytes, relative to the section: a function's begin
// and its entry in .eh_frame, which has 4 bytes each of length, of its common part, of the begin, relative to that
// place, and of the function's length. Where that begin is not the one of the pair, entries are of another form.
std::vector<FunctionRange> function_ranges(std::span<const std::byte> file, std::uint64_t offset, std::uint64_t size,
                                           std::uint64_t address) {
  std::vector<FunctionRange> ranges;
  std::uint32_t form = 0, count = 0;
  constexpr std::uint32_t usual_form = 0x3b'03'1b'01;
  constexpr std::uint64_t head = 12, pair = 8, begin_in_entry = 8, length_in_entry = 12;
  if (offset > file.size() || size > file.size() - offset || size < head) return ranges;
  if (!read_at(file, offset, form) || form != usual_form || !read_at(file, offset + 8, count)) return ranges;
  if (count > (size - head) / pair) return ranges;
  const auto moved = [](std::uint64_t from, std::int32_t by) {
    return from + static_cast<std::uint64_t>(std::int64_t{by});
  };
  ranges.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::int32_t begin = 0, entry = 0, again = 0;
    std::uint32_t length = 0;
    read_at(file, offset + head + i * pair, begin);
    read_at(file, offset + head + i * pair + 4, entry);
    FunctionRange range{.begin = moved(address, begin), .end = moved(address, begin)};
    const std::uint64_t place = moved(offset, entry);
    const bool whole = read_at(file, place + begin_in_entry, again) && read_at(file, place + length_in_entry, length);
    if (whole && moved(moved(address, entry) + begin_in_entry, again) == range.begin) range.end += length;
    ranges.push_back(range);
  }
  std::ranges::sort(ranges, {}, &FunctionRange::begin);
  return ranges;
}

std::string readable_symbol(std::string_view symbol) {
  const std::string mangled(symbol.substr(0, longest_symbol));
  std::string text = mangled;
  if (mangled.starts_with("_Z") && symbol.size() <= longest_mangled && references_in(mangled) <= most_references) {
    int status = 0;
    char* const name = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    if (name != nullptr) text = std::string(name, strnlen(name, longest_symbol));
    std::free(name);
  }
  text = valid_utf8(text);
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return text;
}

}  // namespace infermeter
