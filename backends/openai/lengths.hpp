// How many tokens a prompt or an answer has: a number, or drawn for each request.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace infermeter {

// Whole numbers alone are computed with, so that the same are drawn everywhere.
class Lengths {
 public:
  enum class Kind { constant, uniform, normal };

  // Not `explicit`: a number is one.
  Lengths(int length) : mean_(length) {}
  // "128", "uniform:16:64" (whole numbers, both ends among them) or "normal:256:64" (mean, standard deviation). Throws
  // std::invalid_argument, as options do (sdk/options.hpp).
  [[nodiscard]] static Lengths parse(std::string_view text);

  [[nodiscard]] bool vary() const { return kind_ != Kind::constant; }
  [[nodiscard]] int mean() const;  // of uniform: rounded down
  [[nodiscard]] int most() const;  // none that is drawn is longer
  // The one of request `number`; `stream` tells apart what is drawn for one request. None is shorter than `least`.
  [[nodiscard]] int drawn(std::uint64_t seed, std::uint64_t number, std::uint64_t stream, int least) const;
  [[nodiscard]] std::string in_words() const;  // as it is parsed

 private:
  Kind kind_ = Kind::constant;
  int low_ = 0, high_ = 0;  // uniform
  int mean_ = 0, sd_ = 0;   // constant, normal
};

inline constexpr int most_tokens = 1'000'000;
inline constexpr std::uint64_t prompt_stream = 1, answer_stream = 2;

}  // namespace infermeter
