// The corpus with random changes, for a time: what every change of the sources is tried with, in a build with
// sanitizers and without a compiler of its own. It knows nothing of what a target has executed; libFuzzer does
// (fuzzer.cpp).
//
// infermeter_fuzz_mutate CORPUS FOUND SECONDS SEED TARGET. The input that is being read is kept in the file FOUND:
// after a crash that is the one.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/text/whole_file.hpp"
#include "tests/fuzz/targets.hpp"

namespace infermeter::fuzz {
namespace {

constexpr std::size_t longest = 65536;
constexpr unsigned longest_read_s = 20;

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t end) { return end == 0 ? 0 : static_cast<std::size_t>(random() % end); }

std::vector<std::string> seeds_in(const std::filesystem::path& folder) {
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    seeds.push_back(whole_file(entry.path()));
  }
  std::ranges::sort(seeds);  // a seed of the random numbers means the same on every machine
  return seeds;
}

void change_byte(std::string& bytes, Random& random) {
  constexpr std::array<unsigned char, 8> telling{0x00, 0x01, 0x7f, 0x80, 0xff, '"', '[', '-'};
  char& byte = bytes[below(random, bytes.size())];
  byte = random() % 2 == 0 ? static_cast<char>(telling[below(random, telling.size())])
                           : static_cast<char>(byte ^ static_cast<char>(1U << below(random, 8)));
}

void change_number(std::string& bytes, Random& random) {
  constexpr std::array<std::uint64_t, 6> telling{0, 1, 0x7fff'ffff, 0xffff'ffff, 0x7fff'ffff'ffff'ffff, ~0ULL};
  const std::size_t size = std::min<std::size_t>(bytes.size(), std::size_t{1} << below(random, 4));
  std::memcpy(bytes.data() + below(random, bytes.size() - size + 1), &telling[below(random, telling.size())], size);
}

// Digits of a text become others, and more.
void change_digits(std::string& bytes, Random& random) {
  constexpr std::array<const char*, 6> telling{"-1", "1e999", "18446744073709551616", "0", "2147483648", "0.1"};
  const std::size_t at = bytes.find_first_of("0123456789", below(random, bytes.size()));
  if (at != std::string::npos) bytes.replace(at, 1, telling[below(random, telling.size())]);
}

void move_part(std::string& bytes, const std::string& from, Random& random) {
  const std::size_t begin = below(random, from.size()), size = below(random, from.size() - begin + 1);
  const std::string part = from.substr(begin, std::min(size, longest / 4));
  const std::size_t at = below(random, bytes.size());
  random() % 2 == 0 ? bytes.insert(at, part) : bytes.replace(at, part.size(), part);
}

void erase_part(std::string& bytes, Random& random) {
  const std::size_t begin = below(random, bytes.size());
  bytes.erase(begin, 1 + below(random, std::min<std::size_t>(bytes.size() - begin, 64)));
}

void repeat_part(std::string& bytes, Random& random) {
  const std::size_t begin = below(random, bytes.size());
  const std::string part = bytes.substr(begin, 1 + below(random, 16));
  std::string many;
  for (std::size_t left = 1 + below(random, 512); left > 0; --left) many += part;
  bytes.insert(begin, many);
}

std::string mutated(const std::vector<std::string>& seeds, Random& random) {
  std::string bytes = seeds[below(random, seeds.size())];
  for (std::size_t left = 1 + below(random, 6); left > 0 && !bytes.empty(); --left) {
    switch (below(random, 8)) {
      case 0: move_part(bytes, seeds[below(random, seeds.size())], random); break;
      case 1: erase_part(bytes, random); break;
      case 2: repeat_part(bytes, random); break;
      case 3: change_number(bytes, random); break;
      case 4: change_digits(bytes, random); break;
      default: change_byte(bytes, random);
    }
  }
  bytes.resize(std::min(bytes.size(), longest));
  return bytes;
}

// A file that has what is being read, whatever becomes of this process.
void keep(int file, const std::string& bytes) {
  const auto size = static_cast<ssize_t>(bytes.size());
  if (::ftruncate(file, size) != 0 || ::pwrite(file, bytes.data(), bytes.size(), 0) != size) std::abort();
}

const Target* target_named(std::string_view name) {
  const auto* const found = std::ranges::find(targets, name, &Target::name);
  return found == std::end(targets) ? nullptr : found;
}

int feed(const Target& target, const std::vector<std::string>& seeds, int found, double seconds, std::uint64_t seed) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  Random random(seed);
  std::size_t inputs = 0;
  for (; std::chrono::steady_clock::now() < end; ++inputs) {
    const std::string bytes = mutated(seeds, random);
    keep(found, bytes);
    ::alarm(longest_read_s);  // what takes longer ends here, by a signal
    target.read(std::as_bytes(std::span(bytes)));
  }
  std::printf("%zu\n", inputs);
  return 0;
}

}  // namespace
}  // namespace infermeter::fuzz

int main(int argc, char** argv) {
  using namespace infermeter::fuzz;
  const Target* const target = argc == 6 ? target_named(argv[5]) : nullptr;
  const int found = target == nullptr ? -1 : ::open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (found < 0) {
    std::fputs("usage: infermeter_fuzz_mutate CORPUS FOUND SECONDS SEED TARGET\n", stderr);
    return 2;
  }
  const auto seeds = seeds_in(std::filesystem::path(argv[1]) / target->name);
  return feed(*target, seeds, found, std::atof(argv[3]), std::strtoull(argv[4], nullptr, 10));
}
