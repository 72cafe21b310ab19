#include "infermeter/profile/stacks/stack_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/profile/read/stack_readers.hpp"

namespace infermeter {

Result<std::uint32_t> StackTable::frame(std::string_view symbol, std::string_view module, std::uint64_t offset) {
  StackFrame frame{.symbol = std::string(symbol.substr(0, kLongestSymbol)),
                   .module = std::string(module.substr(0, kLongestSymbol)),
                   .offset = offset};
  const auto [place, is_new] =
      frames_.emplace(std::tuple(frame.symbol, frame.module, offset), static_cast<std::uint32_t>(frames_.size()));
  if (!is_new) return place->second;
  if (frames_.size() > kMostStackFrames) {
    return io_error(fmt::format("it has more than {} different frames", kMostStackFrames));
  }
  profile_.frames.push_back(std::move(frame));
  return place->second;
}

Result<std::uint32_t> StackTable::thread(std::string_view name) {
  const std::string_view kept = name.substr(0, kLongestSymbol);
  const auto found = threads_.find(kept);
  if (found != threads_.end()) return found->second;
  if (threads_.size() >= kMostStackFrames) {
    return io_error(fmt::format("it has more than {} threads", kMostStackFrames));
  }
  const auto number = static_cast<std::uint32_t>(threads_.size());
  threads_.emplace(kept, number);
  profile_.threads.emplace_back(kept);
  return number;
}

bool StackTable::add(StackSample sample) {
  if (profile_.samples.size() >= kMostStackSamples) {
    profile_.cut = true;
    return false;
  }
  sample.frames.shrink_to_fit();
  profile_.samples.push_back(std::move(sample));
  return true;
}

TextLine take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  TextLine line{.text = text.substr(0, end), .complete = end != std::string_view::npos};
  text.remove_prefix(line.complete ? end + 1 : text.size());
  if (line.text.ends_with('\r')) line.text.remove_suffix(1);
  return line;
}

}  // namespace infermeter
