#include "infermeter/data/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "infermeter/data/arrays/store_numbers.hpp"
#include "infermeter/data/port_fit.hpp"
#include "infermeter/data/random.hpp"
#include "infermeter/text/quoted.hpp"

namespace infermeter {
namespace {

using DrawKind = Distribution::Kind;

constexpr std::size_t kChunk = 512;
using Chunk = std::span<double>;

// Scaling and shifting are two calls that are never inlined: fused into one multiply-add, as some processors and
// compilers do, the sum would be rounded differently and the bytes would not be the same everywhere.
[[gnu::noinline]] void scale(Chunk chunk, double factor) {
  for (double& x : chunk) x *= factor;
}
[[gnu::noinline]] void shift(Chunk chunk, double offset) {
  for (double& x : chunk) x += offset;
}

// Uniform in (-1, 1), symmetric about 0, exact: (2u + 1 - 2^32) / 2^32 with 32 random bits u.
void fill_unit(Chunk chunk, Random& random) {
  const auto centred = [](std::uint64_t u) {
    return static_cast<double>(2 * static_cast<std::int64_t>(u) + 1 - (std::int64_t{1} << 32)) * 0x1p-32;
  };
  for (std::size_t i = 0; i < chunk.size(); i += 2) {
    const std::uint64_t draw = random.next();
    chunk[i] = centred(draw & 0xFFFFFFFFu);
    if (i + 1 < chunk.size()) chunk[i + 1] = centred(draw >> 32);
  }
}

// Standard normal without a logarithm, whose last bit differs between C libraries: the number of ones in 256 fair bits,
// plus the difference of two uniform numbers to fill the gaps. Its cumulative distribution is within 2e-4 of the normal
// one (excess kurtosis -2/256), its largest values are 16.1 standard deviations out.
double normal_draw(Random& random) {
  int ones = 0;
  for (int word = 0; word < 4; ++word) ones += std::popcount(random.next());
  const std::uint64_t draw = random.next();
  const auto smooth = static_cast<std::int64_t>(draw & 0xFFFFFFFFu) - static_cast<std::int64_t>(draw >> 32);
  return static_cast<double>((std::int64_t{ones - 128} << 32) + smooth);
}

std::int64_t integer_draw(const Distribution& distribution, Random& random) {
  const auto lowest = static_cast<std::uint64_t>(distribution.lowest);
  const std::uint64_t count = static_cast<std::uint64_t>(distribution.highest) - lowest + 1;
  return static_cast<std::int64_t>(lowest + random.below(count));
}

void fill_chunk(Chunk chunk, const Distribution& distribution, Random& random) {
  switch (distribution.kind) {
    case DrawKind::uniform:
      fill_unit(chunk, random);
      scale(chunk, (distribution.high - distribution.low) / 2);
      shift(chunk, distribution.low + (distribution.high - distribution.low) / 2);
      return;
    case DrawKind::normal: {
      const double one_sd = std::sqrt(64.0 + 1.0 / 6.0) * 0x1p32;  // variances: 256/4 and 2/12
      for (double& x : chunk) x = normal_draw(random);
      scale(chunk, distribution.high / one_sd);
      shift(chunk, distribution.low);
      return;
    }
    case DrawKind::integers:
      for (double& x : chunk) x = static_cast<double>(integer_draw(distribution, random));
      return;
    case DrawKind::zeros: std::fill(chunk.begin(), chunk.end(), 0.0); return;
    case DrawKind::ones: std::fill(chunk.begin(), chunk.end(), 1.0); return;
  }
}

void fill_floats(DType dtype, std::size_t count, const Distribution& distribution, Random& random, std::byte* out) {
  const bool is_complex = dtype == DType::complex64 || dtype == DType::complex128;
  const std::size_t numbers = is_complex ? 2 * count : count;
  std::array<double, kChunk> buffer;
  for (std::size_t first = 0; first < numbers; first += kChunk) {
    const Chunk chunk = std::span(buffer).first(std::min(kChunk, numbers - first));
    fill_chunk(chunk, distribution, random);
    if (is_complex && distribution.kind == DrawKind::ones) {
      for (std::size_t i = 1; i < chunk.size(); i += 2) chunk[i] = 0;  // 1 + 0i
    }
    store_floats(dtype, chunk, out, first);
  }
}

void fill_integers(DType dtype, std::size_t count, const Distribution& distribution, Random& random, std::byte* out) {
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t value = distribution.kind == DrawKind::ones ? 1 : 0;
    if (distribution.kind == DrawKind::integers) value = integer_draw(distribution, random);
    store_integer(dtype, value, out, i);
  }
}

Error unsuitable(const Port& port, std::string_view text) {
  return usage_error(fmt::format(
      "input {} is {}, which {} cannot be drawn as; {}", in_quotes(port.name), to_string(port.dtype), in_quotes(text),
      is_integer(port.dtype) ? "integers:LOW:HIGH, zeros or ones can" : "such inputs take no distribution"));
}

Result<Done> check_names(const DataOptions& options, std::span<const Port> ports) {
  for (const auto& [name, text] : options.distributions) {
    INFERMETER_TRY(const Distribution parsed, parse_distribution(text));
    // One for all inputs goes to those that it suits; it must suit one.
    const auto meant = [&wanted = name, &drawn = parsed](const Port& port) {
      return wanted.empty() ? suits(drawn, port.dtype) : port.name == wanted;
    };
    if (std::any_of(ports.begin(), ports.end(), meant)) continue;
    if (name.empty() && !ports.empty()) return unsuitable(ports.front(), text);
    std::string known;
    for (const Port& port : ports) known += (known.empty() ? "" : ", ") + in_quotes(port.name);
    return usage_error(fmt::format("a distribution is given for input {}, but the model's inputs are {}",
                                   in_quotes(name), known.empty() ? "none" : known));
  }
  return Done{};
}

struct Source {
  const Port* port;
  Shape shape;
  Distribution distribution;
};

Result<Source> source_of(const Port& port, const DataOptions& options) {
  if (port.kind == Value::Kind::sequence || port.dtype == DType::undefined) {
    return usage_error(fmt::format(
        "input {} is {}, for which no synthetic data can be made; give --data with an ONNX test_data_set folder",
        in_quotes(port.name), describe(port)));
  }
  INFERMETER_TRY(Shape shape, concrete_shape(port, options.batch_size));
  INFERMETER_TRY(const Distribution distribution, distribution_of(port, options));
  return Source{&port, std::move(shape), distribution};
}

std::int64_t items_of(const DataOptions& options) { return options.limit == 0 ? 1 : options.limit; }

// No option makes it smaller.
bool is_declared_too_large(const Port& port, std::uint64_t size) {
  const auto is_free = [](std::int64_t length) { return length < 0; };
  const auto has_name = [](const std::string& name) { return !name.empty(); };
  return size > kMostDataBytes && std::ranges::none_of(port.shape, is_free) &&
         std::ranges::none_of(port.dimension_names, has_name);
}

Result<Done> check_size(const std::vector<Source>& sources, const DataOptions& options) {
  const std::uint64_t most_per_item = options.most_bytes / static_cast<std::uint64_t>(items_of(options));
  std::uint64_t bytes = 0;
  for (const Source& source : sources) {
    const auto count = element_count(source.shape);
    const std::uint64_t size = !count                                ? kMostDataBytes + 1
                               : source.port->dtype == DType::string ? *count * sizeof(std::string)
                                                                     : bytes_of(source.port->dtype, *count);
    if (size > most_per_item || (bytes += size) > most_per_item) {
      const std::string most =
          is_declared_too_large(*source.port, size)
              ? fmt::format("{} GiB; the model declares this size, and cannot be measured", kMostDataBytes >> 30U)
              : most_data(options);
      return usage_error(fmt::format("input {} of {} {} would make the data larger than {}",
                                     in_quotes(source.port->name), to_string(source.port->dtype),
                                     to_string(source.shape), most));
    }
  }
  return Done{};
}

Value synthetic_value(const Source& source, std::uint64_t seed, std::size_t input, std::int64_t item) {
  const auto item_index = static_cast<std::uint64_t>(item);
  if (source.port->dtype == DType::string) {
    return {.tensor = synthetic_words(source.shape, seed, input, item_index)};
  }
  return {.tensor = synthetic_numbers(source.port->dtype, source.shape, source.distribution, seed, input, item_index),
          .elements = {}};
}

// One for each input, checked.
Result<std::vector<Source>> sources_of(const DataOptions& options, std::span<const Port> ports) {
  INFERMETER_TRY_DONE(check_names(options, ports));
  std::vector<Source> sources;
  for (const Port& port : ports) {
    INFERMETER_TRY(Source source, source_of(port, options));
    sources.push_back(std::move(source));
  }
  const std::int64_t items = items_of(options);
  if (items > kMostItems) {
    return usage_error(fmt::format("--data-limit must be at most {} for synthetic data, not {}", kMostItems, items));
  }
  INFERMETER_TRY_DONE(check_size(sources, options));
  return sources;
}

}  // namespace

// The one given for this input beats the one for all, which beats the default. Checked to be well-formed before.
Result<Distribution> distribution_of(const Port& port, const DataOptions& options) {
  Distribution out = default_distribution(port.dtype, port.name);
  for (const std::string_view wanted : {std::string_view{}, std::string_view(port.name)}) {
    for (const auto& [name, text] : options.distributions) {
      if (name != wanted) continue;
      INFERMETER_TRY(const Distribution given, parse_distribution(text));
      if (suits(given, port.dtype)) {
        out = given;
      } else if (!name.empty()) {
        return unsuitable(port, text);
      }
    }
  }
  if (auto fits = check_range(out, port.dtype); !fits.ok()) {
    return usage_error(fmt::format("input {}: {}", in_quotes(port.name), fits.error().message));
  }
  return out;
}

Tensor synthetic_numbers(DType dtype, const Shape& shape, const Distribution& distribution, std::uint64_t seed,
                         std::uint64_t input_index, std::uint64_t item_index) {
  const std::size_t count = element_count(shape).value_or(0);
  std::byte* out = nullptr;
  Tensor tensor{dtype, shape, Bytes::allocate(bytes_of(dtype, count), &out), {}};
  Random random(seed, input_index, item_index);
  if (is_float(dtype)) {
    fill_floats(dtype, count, distribution, random, out);
  } else {
    fill_integers(dtype, count, distribution, random, out);
  }
  return tensor;
}

Tensor synthetic_words(const Shape& shape, std::uint64_t seed, std::uint64_t input_index, std::uint64_t item_index) {
  static constexpr std::array<const char*, 8> kWords{"meter", "model", "runs", "fast", "and", "right", "every", "time"};
  Tensor tensor{DType::string, shape, {}, std::vector<std::string>(element_count(shape).value_or(0))};
  Random random(seed, input_index, item_index);
  for (std::string& text : tensor.strings) text = kWords[random.below(kWords.size())];
  return tensor;
}

Result<DataSet> make_synthetic(const DataOptions& options, std::span<const Port> ports) {
  INFERMETER_TRY(const std::vector<Source> sources, sources_of(options, ports));
  DataSet set;
  set.available = kMostItems;
  for (std::int64_t item = options.first; item < options.first + items_of(options); ++item) {
    DataItem& made = set.items.emplace_back();
    made.name = fmt::format("synthetic {}", item);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      made.inputs.push_back(synthetic_value(sources[i], options.seed, i, item));
    }
  }
  return set;
}

Result<Done> check_synthetic(const DataOptions& options, std::span<const Port> ports) {
  INFERMETER_TRY(const auto sources, sources_of(options, ports));
  return Done{};
}

}  // namespace infermeter
