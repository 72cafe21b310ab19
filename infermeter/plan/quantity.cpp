#include "infermeter/plan/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace infermeter {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 8> kTimeUnits{
    {{"", 1}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}}};
constexpr std::array<Unit, 11> kByteUnits{{{"", 1},
                                           {"B", 1},
                                           {"kB", 1e3},
                                           {"KB", 1e3},
                                           {"MB", 1e6},
                                           {"GB", 1e9},
                                           {"TB", 1e12},
                                           {"KiB", 1024},
                                           {"MiB", 1048576},
                                           {"GiB", 1073741824},
                                           {"TiB", 1099511627776}}};

// Beyond this a time is a slip of the pen, and sums of times are still exact to the microsecond below it.
constexpr double kLongestSeconds = 1e9;
constexpr double kMostBytes = 9007199254740992.0;  // 2^53: doubles hold every whole number up to here
constexpr std::int64_t kLastProcessor = 4095;

// What a message quotes: long or many-line text is cut.
std::string quoted(std::string_view text) {
  constexpr std::size_t kLimit = 60;
  return text.size() > kLimit ? fmt::format("'{}…'", text.substr(0, kLimit)) : fmt::format("'{}'", text);
}

std::optional<double> scaled(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto found = std::ranges::find(units, unit, &Unit::name);
  if (found == units.end()) return std::nullopt;
  return number * found->factor;
}

}  // namespace

Result<double> share_from_string(std::string_view text) {
  static constexpr std::array<Unit, 2> units{{{"", 1}, {"%", 0.01}}};
  if (const auto share = scaled(text, units)) return *share;
  return usage_error(fmt::format("expected a share such as 1% or 0.01, got {}", quoted(text)));
}

Result<double> seconds_from_string(std::string_view text) {
  const std::optional<double> seconds = scaled(text, kTimeUnits);
  if (!seconds || *seconds > kLongestSeconds) {
    return usage_error(fmt::format("expected a time such as 30s, 5m or 250ms (not negative), got {}", quoted(text)));
  }
  return *seconds;
}

Result<std::uint64_t> bytes_from_string(std::string_view text) {
  const std::optional<double> bytes = scaled(text, kByteUnits);
  if (!bytes || *bytes > kMostBytes) {
    return usage_error(fmt::format("expected a size such as 2GB or 512MiB, got {}", quoted(text)));
  }
  return static_cast<std::uint64_t>(std::llround(*bytes));
}

ByteUnit unit_of_size(std::uint64_t bytes) {
  ByteUnit unit{"MB", 1'000'000};
  std::uint64_t fewest = 0;
  for (const Unit& each : kByteUnits) {
    const auto factor = static_cast<std::uint64_t>(each.factor);
    if (factor == 1 || each.name == "KB" || bytes == 0 || bytes % factor != 0) continue;
    if (fewest == 0 || bytes / factor < fewest) {
      fewest = bytes / factor;
      unit = {each.name, factor};
    }
  }
  return unit;
}

std::string size_to_string(std::uint64_t bytes) {
  const ByteUnit unit = unit_of_size(bytes);
  return fmt::format("{:.0f} {}", static_cast<double>(bytes) / static_cast<double>(unit.bytes), unit.name);
}

Result<std::int64_t> integer_from_string(std::string_view text, std::int64_t low, std::int64_t high) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (whole && number >= low && number <= high) return number;
  if (high == std::numeric_limits<std::int64_t>::max()) {
    return usage_error(fmt::format("expected a whole number of at least {}, got {}", low, quoted(text)));
  }
  return usage_error(fmt::format("expected a whole number from {} to {}, got {}", low, high, quoted(text)));
}

Result<std::vector<int>> processors_from_string(std::string_view text) {
  const auto wrong = [&] {
    return usage_error(
        fmt::format("expected processors such as 0-3,8 (0 to {}), got {}", kLastProcessor, quoted(text)));
  };
  std::vector<int> processors;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, comma - begin);
    const std::size_t dash = part.find('-');
    const auto first = integer_from_string(part.substr(0, dash), 0, kLastProcessor);
    const auto last =
        dash == std::string_view::npos ? first : integer_from_string(part.substr(dash + 1), 0, kLastProcessor);
    if (!first || !last || *last < *first) return wrong();
    for (int p = static_cast<int>(*first); p <= *last; ++p) {
      if (std::ranges::find(processors, p) == processors.end()) processors.push_back(p);
    }
    begin = comma + 1;
  }
  return processors;
}

Result<std::pair<std::string, std::string>> pair_from_string(std::string_view text, std::string_view what) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return usage_error(fmt::format("expected {} as name=value, got {}", what, quoted(text)));
  }
  return std::pair{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) {
      return k < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[k])) : 0U;
    };
    const unsigned lead = byte(i);
    const std::size_t extra = lead < 0x80 ? 0 : lead >= 0xC2 && lead < 0xE0 ? 1 : (lead & 0xF0) == 0xE0 ? 2 : 3;
    if ((lead >= 0x80 && lead < 0xC2) || lead > 0xF4) return false;
    for (std::size_t k = 1; k <= extra; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    }
    const unsigned second = byte(i + 1);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return false;
    if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return false;
    i += extra + 1;
  }
  return true;
}

}  // namespace infermeter
