#include "lengths.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "sdk/options.hpp"
#include "split_mix.hpp"

namespace infermeter {
namespace {

// About 0, in units of which `one_sd` is a standard deviation: the number of ones in 256 fair bits, and the difference
// of two uniform numbers to fill the gaps. No logarithm, whose last bit differs between libraries.
constexpr std::int64_t one_sd = 34404448521;  // sqrt(256 / 4 + 2 / 12) 2^32

std::int64_t normal_draw(Draws& draws) {
  int ones = 0;
  for (int word = 0; word < 4; ++word) ones += std::popcount(draws.next());
  const std::uint64_t draw = draws.next();
  const auto smooth = static_cast<std::int64_t>(draw & 0xFFFFFFFFU) - static_cast<std::int64_t>(draw >> 32);
  return (std::int64_t{ones - 128} << 32) + smooth;
}

std::int64_t floor_of_quotient(std::int64_t a, std::int64_t positive) {
  return a >= 0 ? a / positive : -((positive - 1 - a) / positive);
}

}  // namespace

Lengths Lengths::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {parse_integer(text, 1, most_tokens)};
  const std::string_view name = text.substr(0, colon), arguments = text.substr(colon + 1);
  const std::size_t second = std::min(arguments.find(':'), arguments.size());
  if (second == arguments.size() || (name != "uniform" && name != "normal")) throw std::invalid_argument("");
  const int first = parse_integer(arguments.substr(0, second), 1, most_tokens);
  const int last = parse_integer(arguments.substr(second + 1), 1, most_tokens);
  Lengths lengths(first);
  if (name == "normal") {
    lengths.kind_ = Kind::normal;
    lengths.sd_ = last;
    return lengths;
  }
  if (first >= last) throw std::invalid_argument("LOW must be below HIGH");
  lengths.kind_ = Kind::uniform;
  lengths.low_ = first;
  lengths.high_ = last;
  return lengths;
}

int Lengths::mean() const { return kind_ == Kind::uniform ? low_ + (high_ - low_) / 2 : mean_; }

int Lengths::most() const {
  constexpr std::int64_t farthest = 17;  // standard deviations: 129 / sqrt(64 + 1 / 6) are 16.1
  if (kind_ == Kind::uniform) return high_;
  return static_cast<int>(std::min<std::int64_t>(mean_ + farthest * sd_, most_tokens));
}

int Lengths::drawn(std::uint64_t seed, std::uint64_t number, std::uint64_t stream, int least) const {
  if (kind_ == Kind::constant) return std::max(mean_, least);
  // Apart from the words of the same request's prompt.
  Draws draws(Draws::mixed(Draws::mixed(seed) ^ number ^ (stream << 62)));
  std::int64_t length = 0;
  if (kind_ == Kind::uniform) {
    length = low_ + static_cast<std::int64_t>(draws.below(static_cast<std::uint64_t>(high_ - low_) + 1));
  } else {
    const std::int64_t from_mean = std::int64_t{2} * sd_ * normal_draw(draws);  // to the nearest whole number
    length = mean_ + floor_of_quotient(from_mean + one_sd, 2 * one_sd);
  }
  return static_cast<int>(std::clamp<std::int64_t>(length, least, most_tokens));
}

std::string Lengths::in_words() const {
  if (kind_ == Kind::constant) return std::to_string(mean_);
  if (kind_ == Kind::uniform) return "uniform:" + std::to_string(low_) + ":" + std::to_string(high_);
  return "normal:" + std::to_string(mean_) + ":" + std::to_string(sd_);
}

}  // namespace infermeter
