// The cache is compared with one that is plainly right; apertures against their definition; and results against those
// of caches that cannot tell keys apart by their hash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <list>
#include <optional>
#include <random>
#include <set>

#include "imaging/cache.hpp"
#include "imaging/fftw.hpp"
#include "imaging/kernels.hpp"
#include "imaging/object.hpp"
#include "imaging/reconstruction.hpp"

namespace infermeter::imaging_test {
namespace {

// --- cache ---------------------------------------------------------------------------------------------------------

CacheKey key_at(int y, int x) { return {.object = 1, .image_size = 64, .centre = {y, x}}; }

// A list of what was used, the last one in front.
class PlainCache {
 public:
  PlainCache(std::size_t capacity, Eviction eviction) : capacity_(capacity), eviction_(eviction) {}
  std::optional<int> find(int key) {
    const auto found = std::ranges::find(used_, key, &std::pair<int, int>::first);
    if (found == used_.end()) return std::nullopt;
    used_.splice(used_.begin(), used_, found);
    return used_.front().second;
  }
  void add(int key, int value) {
    if (capacity_ == 0) return;
    if (used_.size() == capacity_) {
      eviction_ == Eviction::lru ? used_.pop_back() : used_.pop_front();
      ++evictions;
    }
    used_.emplace_front(key, value);
  }
  [[nodiscard]] std::size_t size() const { return used_.size(); }
  std::uint64_t evictions = 0;

 private:
  std::size_t capacity_;
  Eviction eviction_;
  std::list<std::pair<int, int>> used_;
};

struct Case {
  std::size_t capacity;
  Eviction eviction;
  std::uint64_t hash_mask;
};

class CacheFuzz : public testing::TestWithParam<Case> {};

TEST_P(CacheFuzz, DoesWhatAPlainOneDoes) {
  const auto [capacity, eviction, hash_mask] = GetParam();
  constexpr std::uint64_t entry = 100;
  Cache cache({.entry_bytes = entry,
               .most_entries = 50,
               .budget = capacity * entry + entry / 2,
               .eviction = eviction,
               .hash_mask = hash_mask});
  PlainCache plain(std::min<std::size_t>(capacity, 50), eviction);
  std::mt19937 random(capacity * 2 + static_cast<std::size_t>(eviction));
  std::uint64_t hits = 0;
  for (int i = 0; i < 20'000; ++i) {
    const int which = static_cast<int>(random() % 60);
    const CacheKey key = key_at(which / 10 - 3, which % 10 - 5);
    const std::byte* kept = cache.find(key);
    const std::optional<int> expected = plain.find(which);
    ASSERT_EQ(kept != nullptr, expected.has_value()) << "at step " << i;
    if (kept != nullptr) {
      int value = 0;
      std::memcpy(&value, kept, sizeof value);
      ASSERT_EQ(value, *expected);
      ++hits;
      continue;
    }
    if (std::byte* room = cache.add(key)) std::memcpy(room, &i, sizeof i);
    plain.add(which, i);
    ASSERT_EQ(cache.counts().bytes, plain.size() * entry);
    ASSERT_LE(cache.counts().bytes_peak, capacity * entry + entry / 2);
  }
  const CacheCounts& counts = cache.counts();
  EXPECT_EQ(counts.lookups, 20'000U);
  EXPECT_EQ(counts.hits, hits);
  EXPECT_EQ(counts.lookups, counts.hits + counts.misses);
  EXPECT_EQ(counts.evictions, plain.evictions);
  cache.forget();
  EXPECT_EQ(cache.counts().lookups, 0U);
  EXPECT_EQ(cache.find(key_at(0, 0)), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Sizes, CacheFuzz,
                         testing::Values(Case{0, Eviction::lru, ~0ULL}, Case{1, Eviction::lru, ~0ULL},
                                         Case{1, Eviction::mru, 0}, Case{7, Eviction::lru, 0},
                                         Case{7, Eviction::mru, ~0ULL}, Case{30, Eviction::lru, 3},
                                         Case{30, Eviction::mru, 0}, Case{1000, Eviction::lru, 0}));

TEST(CacheKeyTest, EveryFieldMakesAnotherKey) {
  const CacheKey key = key_at(3, -4);
  std::vector<CacheKey> others(9, key);
  others[0].object = 2;
  others[1].image_size = 65;
  others[2].detector = 1;
  others[3].radius = 1;
  others[4].centre = {-4, 3};
  others[5].line_length = 2;
  others[6].detection = Detection::field;
  others[7].storage = Storage::float16;
  others[8].arithmetic = Arithmetic::float16;
  std::set<std::uint64_t> hashes = {hash_of(key)};
  for (const CacheKey& other : others) {
    EXPECT_FALSE(other == key);
    hashes.insert(hash_of(other));
  }
  EXPECT_EQ(hashes.size(), 10U);
}

// --- apertures -----------------------------------------------------------------------------------------------------

ImagingSettings tiny() {
  ImagingSettings s;
  s.image_size = 64;
  s.object_size = 16;
  s.radius = 5;
  s.samples = 8;
  s.epochs = 3;
  s.detector = 32;
  s.r_max = 20;
  return s;
}

TEST(Mask, HoldsThePixelsOfTheDisc) {
  const ImagingSettings s = tiny();
  for (const Centre centre : {Centre{0, 0}, Centre{-20, 3}, Centre{7, -20}}) {
    std::vector<Span> spans(most_spans(s.radius));
    const std::size_t count = make_mask(s, centre, 0, spans);
    std::set<std::uint32_t> pixels, window;
    for (const Span& span : std::span(spans).first(count)) {
      for (std::uint32_t i = 0; i < span.length; ++i) {
        EXPECT_TRUE(pixels.insert(span.grid + i).second);
        EXPECT_TRUE(window.insert(span.window + i).second);
        const int y = static_cast<int>((span.grid + i) / 64), x = static_cast<int>((span.grid + i) % 64);
        const int dy = (y - centre.y + 96) % 64 - 32, dx = (x - centre.x + 96) % 64 - 32;
        EXPECT_LE(dy * dy + dx * dx, 25);
        EXPECT_EQ((span.window + i) / 32, static_cast<std::uint32_t>((dy + 32) % 32));
        EXPECT_EQ((span.window + i) % 32, static_cast<std::uint32_t>((dx + 32) % 32));
      }
    }
    EXPECT_EQ(pixels.size(), 81U);  // lattice points within 5 of one of them
  }
}

TEST(Positions, BeginAtTheCentreAreAllDifferentAndStayWithinReach) {
  for (const Pattern pattern : {Pattern::fermat, Pattern::grid, Pattern::random}) {
    ImagingSettings s = tiny();
    s.pattern = pattern;
    s.samples = 40;
    const std::vector<Centre> centres = positions_of(s);
    ASSERT_EQ(centres.size(), 40U);
    EXPECT_EQ(centres.front(), (Centre{0, 0}));
    for (const Centre centre : centres) EXPECT_LE(centre.y * centre.y + centre.x * centre.x, 21 * 21);
  }
  ImagingSettings crowded = tiny();
  crowded.r_max = 2;
  crowded.samples = 60;
  for (const Pattern pattern : {Pattern::fermat, Pattern::grid, Pattern::random}) {
    crowded.pattern = pattern;
    EXPECT_THROW(static_cast<void>(positions_of(crowded)), Failure);
  }
}

TEST(Coverage, IsThatOfTheUnion) {
  ImagingSettings s = tiny();
  const std::vector<Centre> one = {{0, 0}}, apart = {{0, 0}, {11, 0}};
  EXPECT_DOUBLE_EQ(coverage_of(s, one), 81.0 / 4096);
  EXPECT_DOUBLE_EQ(coverage_of(s, apart), 162.0 / 4096);
  s.line_length = 2;
  EXPECT_DOUBLE_EQ(coverage_of(s, one), 92.0 / 4096);  // one more in each of 11 rows
}

// --- object and storage --------------------------------------------------------------------------------------------

TEST(Object, IsTheSameForTheSameSeedAndReachesFrom0To1) {
  const ImagingSettings s;
  const auto object = built_in_object(s, 7);
  EXPECT_EQ(object, built_in_object(s, 7));
  EXPECT_NE(object, built_in_object(s, 8));
  EXPECT_EQ(*std::ranges::max_element(object), 1.0F);
  EXPECT_EQ(*std::ranges::min_element(object), 0.0F);
}

TEST(HalfStorage, KeepsElevenBitsOfTheBrightest) {
  if (!has_float16()) GTEST_SKIP();
  const std::vector<float> values = {3e-9F, 1.7e-9F, 1e-12F, 0};
  std::vector<std::uint16_t> narrowed(4);
  std::vector<float> widened(4);
  const float scale = storage_scale(3e-9F);
  narrow(values.data(), 4, scale, narrowed.data());
  widen(narrowed.data(), 4, 1 / scale, widened.data());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(widened[i], values[i], values[i] / 2048);
  EXPECT_EQ(widened[3], 0);
}

TEST(HalfArithmetic, IsFloat16WhateverTheBrightness) {
  if (!has_float16()) GTEST_SKIP();
  for (const float unit : {1.0F, 3e-9F, 2e7F}) {
    std::vector<float> field(32), intensity(16), measured(16);
    for (std::size_t i = 0; i < 16; ++i) {
      field[2 * i] = unit * static_cast<float>(i), field[2 * i + 1] = unit / 3;
      measured[i] = unit * unit * 7 * static_cast<float>(i % 4);
    }
    intensities_in_half(field.data(), 16, range_scale(field.data(), nullptr, 16), intensity.data());
    double misfit = 0;
    std::vector<float> replaced = field;
    replace_modulus_in_half(replaced.data(), measured.data(), 16, 1e-12F * unit * unit,
                            range_scale(field.data(), measured.data(), 16), misfit);
    for (std::size_t i = 0; i < 16; ++i) {
      const float re = field[2 * i], im = field[2 * i + 1], exact = re * re + im * im;
      EXPECT_NEAR(intensity[i], exact, exact / 500 + unit * unit * 1e-4F) << i;
      const float modulus = std::hypot(replaced[2 * i], replaced[2 * i + 1]);
      EXPECT_NEAR(modulus, std::sqrt(measured[i]), std::sqrt(measured[i]) / 300) << i;
      EXPECT_NEAR(replaced[2 * i + 1] * re, replaced[2 * i] * im, modulus * std::sqrt(exact) / 300)
          << "the phase " << i;
    }
    EXPECT_GT(misfit, 0);
  }
}

// --- reconstruction ------------------------------------------------------------------------------------------------

struct ReconstructionTest : testing::Test {
  void SetUp() override {
    try {
      fftw = open_fftw(imb_environment{});
    } catch (const Failure& failure) {
      GTEST_SKIP() << failure.message;
    }
  }
  std::vector<float> image_of(const ImagingSettings& s, std::uint64_t hash_mask) const {
    const Scene scene{s, positions_of(s), std::make_unique<Plans>(fftw, s, WisdomPlace{}), 0};
    Reconstruction reconstruction(scene, hash_mask);
    std::vector<float> image(256), error(3);
    reconstruction.run(built_in_object(s, 7), 1, image, error);
    return image;
  }
  Fftw fftw;
};

TEST_F(ReconstructionTest, EqualHashesChangeNothing) {
  ImagingSettings s = tiny();
  const auto expected = image_of(s, ~0ULL);
  EXPECT_EQ(image_of(s, 0), expected);
  s.cache_budget = 3 * (32 * 32 * 4 + 64);
  for (const Eviction eviction : {Eviction::lru, Eviction::mru}) {
    s.eviction = eviction;
    EXPECT_EQ(image_of(s, 0), expected);
  }
}

TEST_F(ReconstructionTest, WhatIsNotFiniteIsAnError) {
  const ImagingSettings s = tiny();
  const Scene scene{s, positions_of(s), std::make_unique<Plans>(fftw, s, WisdomPlace{}), 0};
  Reconstruction reconstruction(scene);
  std::vector<float> object(256, 1.0F), image(256), error(3);
  object[40] = std::numeric_limits<float>::infinity();
  try {
    reconstruction.run(object, 1, image, error);
    FAIL() << "it took it for a result";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status, IMB_RUN_ERROR);
    EXPECT_THAT(failure.message, testing::HasSubstr("not finite"));
  }
}

}  // namespace
}  // namespace infermeter::imaging_test
