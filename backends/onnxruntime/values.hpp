// imb_value <-> OrtValue.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "library.hpp"
#include "sdk/port.hpp"

namespace infermeter {

// What values are made with.
struct ValueMaker {
  const OrtApi& api;
  const OrtEnv* environment;
  OrtAllocator* allocator;
  const OrtMemoryInfo* memory;

  // A tensor's bytes stay the caller's (zero copy); strings are copied. Throws Failure naming the input, what it wants
  // and what it was given. nullptr: an absent optional, which Run takes by leaving it out.
  [[nodiscard]] Owned<OrtValue> make(const PortFields& port, const imb_value& value) const;

 private:
  [[nodiscard]] Owned<OrtValue> tensor(const PortFields& port, const imb_value& value) const;
  [[nodiscard]] Owned<OrtValue> strings(const PortFields& port, const imb_value& value) const;
  [[nodiscard]] Owned<OrtValue> sequence(const PortFields& port, const imb_value& value) const;
  void must(OrtStatus* status, const PortFields& port) const;
};

// A view of an output and what it points to. Valid as long as this and the OrtValue live.
class ValueView {
 public:
  ValueView(const OrtApi& api, OrtAllocator* allocator) : api_(api), allocator_(allocator) {}
  [[nodiscard]] imb_value view_of(const OrtValue* value, const std::string& output);

 private:
  [[nodiscard]] imb_value tensor(const OrtValue* value, const std::string& output);
  [[nodiscard]] imb_value sequence(const OrtValue* value, const std::string& output);
  // Of a sequence's elements, which are maps: a tensor of items and keys, in the order of the keys.
  [[nodiscard]] imb_value table_of(std::span<const OrtValue* const> maps, const std::string& output);
  [[nodiscard]] imb_value part_of(const OrtValue* value, int index, const std::string& output);
  void read_strings(const OrtValue* value, std::size_t count, imb_value& view, const std::string& output);

  struct Strings {
    std::string text;  // one after another, each followed by NUL
    std::vector<const char*> pointers;
    std::vector<std::size_t> sizes;
  };

  const OrtApi& api_;
  OrtAllocator* allocator_;
  std::deque<std::vector<std::int64_t>> shapes_;
  std::deque<Strings> strings_;
  std::deque<std::vector<imb_value>> sequences_;
  std::deque<std::vector<std::byte>> tables_;
  std::vector<Owned<OrtValue>> elements_;
};

}  // namespace infermeter
