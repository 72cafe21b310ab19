#include "infermeter/fidelity/difference_tally.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "infermeter/data/arrays/number_formats.hpp"
#include "infermeter/fidelity/element_reader.hpp"
#include "infermeter/fidelity/test_targets.hpp"

namespace infermeter::difference_tally_test {
namespace {

using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

template <class T>
Tensor tensor_as(DType dtype, const std::vector<double>& values) {
  std::vector<T> elements;
  for (const double value : values) elements.push_back(static_cast<T>(value));
  return make_tensor<T>(dtype, {static_cast<std::int64_t>(values.size())}, elements);
}

template <class To>
Tensor tensor_of_bits(DType dtype, const std::vector<double>& values, To to) {
  std::vector<std::uint16_t> bits;
  for (const double value : values) bits.push_back(to(static_cast<float>(value)));
  return make_tensor<std::uint16_t>(dtype, {static_cast<std::int64_t>(values.size())}, bits);
}

Tensor tensor(DType dtype, const std::vector<double>& values) {
  switch (dtype) {
    case DType::float64: return tensor_as<double>(dtype, values);
    case DType::float16: return tensor_of_bits(dtype, values, float16_from);
    case DType::bfloat16: return tensor_of_bits(dtype, values, bfloat16_from);
    case DType::int8: return tensor_as<std::int8_t>(dtype, values);
    case DType::uint8:
    case DType::boolean: return tensor_as<std::uint8_t>(dtype, values);
    case DType::int16: return tensor_as<std::int16_t>(dtype, values);
    case DType::uint16: return tensor_as<std::uint16_t>(dtype, values);
    case DType::int32: return tensor_as<std::int32_t>(dtype, values);
    case DType::uint32: return tensor_as<std::uint32_t>(dtype, values);
    case DType::int64: return tensor_as<std::int64_t>(dtype, values);
    case DType::uint64: return tensor_as<std::uint64_t>(dtype, values);
    default: return tensor_as<float>(dtype, values);
  }
}

const std::vector<DType> number_types = {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int8,
                                         DType::uint8,   DType::int16,   DType::uint16,  DType::int32,    DType::uint32,
                                         DType::int64,   DType::uint64,  DType::boolean};

DifferenceTally tally(const Tensor& reference, const Tensor& candidate) {
  DifferenceTally sum;
  sum.add(reference, candidate, 0);
  return sum;
}
DifferenceTally tally(const std::vector<double>& reference, const std::vector<double>& candidate) {
  return tally(tensor(DType::float64, reference), tensor(DType::float64, candidate));
}

std::vector<double> random_values(std::mt19937_64& random, DType dtype, std::size_t count) {
  std::uniform_real_distribution<double> any(0, dtype == DType::boolean ? 2 : 120);
  std::vector<double> values(count);
  for (double& value : values) value = any(random);
  return values;
}

std::vector<double> exact_values(const Tensor& of) {
  std::vector<double> values(*element_count(of.shape));
  read_values(of, 0, values);
  return values;
}

// The formulas as they stand in the header, in long double and in two passes.
struct Expected {
  long double absolute = 0, square = 0, absolute_r = 0, rr = 0, cc = 0, rc = 0, centred_r = 0, centred_c = 0,
              centred_rc = 0;
  double low = inf, high = -inf, most = -1;
  std::size_t at = 0;
};

Expected expected(const std::vector<double>& r, const std::vector<double>& c) {
  Expected e;
  long double mean_r = 0, mean_c = 0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double d = std::abs(c[i] - r[i]);
    if (d > e.most) e.most = d, e.at = i;
    e.low = std::min(e.low, r[i]);
    e.high = std::max(e.high, r[i]);
    e.absolute += d;
    e.square += static_cast<long double>(d) * d;
    e.absolute_r += std::abs(r[i]);
    e.rr += static_cast<long double>(r[i]) * r[i];
    e.cc += static_cast<long double>(c[i]) * c[i];
    e.rc += static_cast<long double>(r[i]) * c[i];
    mean_r += static_cast<long double>(r[i]) - r[0];
    mean_c += static_cast<long double>(c[i]) - c[0];
  }
  const auto n = static_cast<long double>(r.size());
  mean_r = r[0] + mean_r / n, mean_c = c[0] + mean_c / n;
  for (std::size_t i = 0; i < r.size(); ++i) {
    e.centred_r += (r[i] - mean_r) * (r[i] - mean_r);
    e.centred_c += (c[i] - mean_c) * (c[i] - mean_c);
    e.centred_rc += (r[i] - mean_r) * (c[i] - mean_c);
  }
  return e;
}

void expect_near(double got, long double wanted, long double scale, const char* what) {
  EXPECT_LE(std::abs(static_cast<long double>(got) - wanted), 1e-8L * scale) << what << ": " << got;
}

void expect_figures(const DifferenceTally& got, const std::vector<double>& r, const std::vector<double>& c,
                    const Expected& e) {
  ASSERT_EQ(got.count, r.size());
  ASSERT_EQ(got.finite, r.size());
  EXPECT_EQ(got.max_absolute, e.most);
  EXPECT_EQ(got.max_absolute_index, e.at);
  EXPECT_EQ(got.reference_at_max, r[e.at]);
  EXPECT_EQ(got.candidate_at_max, c[e.at]);
  EXPECT_EQ(got.reference_low, e.low);
  EXPECT_EQ(got.reference_high, e.high);
  EXPECT_EQ(got.largest_reference, std::max(std::abs(e.low), std::abs(e.high)));
  expect_near(got.sum_absolute_difference, e.absolute, e.absolute, "sum |d|");
  expect_near(got.sum_difference_squared, e.square, e.square, "sum d^2");
  expect_near(got.sum_absolute_reference, e.absolute_r, e.absolute_r, "sum |r|");
  expect_near(got.sum_reference_squared, e.rr, e.rr, "sum r^2");
  expect_near(got.sum_candidate_squared, e.cc, e.cc, "sum c^2");
  expect_near(got.sum_product, e.rc, std::sqrt(e.rr * e.cc), "sum rc");
  expect_near(got.centred_reference, e.centred_r, e.centred_r, "centred r");
  expect_near(got.centred_candidate, e.centred_c, e.centred_c, "centred c");
  expect_near(got.centred_product, e.centred_rc, std::sqrt(e.centred_r * e.centred_c), "centred rc");
}

void expect_figures(const DifferenceTally& got, const std::vector<double>& r, const std::vector<double>& c) {
  expect_figures(got, r, c, expected(r, c));
}

TEST(DifferenceTally, EveryTypeOnEveryTarget) {
  std::mt19937_64 random(1);
  for (const DType dtype : number_types) {
    for (const std::size_t count : {1, 2, 7, 8, 9, 31, 1000, 2049, 8192, 8193, 20000}) {
      SCOPED_TRACE(std::string(to_string(dtype)) + " " + std::to_string(count));
      const Tensor r = tensor(dtype, random_values(random, dtype, count));
      const Tensor c = tensor(dtype, random_values(random, dtype, count));
      const std::vector<double> exact_r = exact_values(r), exact_c = exact_values(c);
      const Expected figures = expected(exact_r, exact_c);
      on_each_target([&] { expect_figures(tally(r, c), exact_r, exact_c, figures); });
    }
  }
}

TEST(DifferenceTally, EverySmallPattern) {
  on_each_target([] {
    for (const DType dtype : {DType::float16, DType::bfloat16}) {
      std::vector<std::uint16_t> bits;
      for (unsigned pattern = 0; pattern < 65536; ++pattern) bits.push_back(static_cast<std::uint16_t>(pattern));
      const Tensor all = make_tensor<std::uint16_t>(dtype, {65536}, bits);
      std::erase_if(bits, [&](std::uint16_t b) {
        const double value = dtype == DType::float16 ? double_from_float16(b) : double_from_bfloat16(b);
        return !std::isfinite(value);
      });
      const Tensor finite = make_tensor<std::uint16_t>(dtype, {static_cast<std::int64_t>(bits.size())}, bits);
      const DifferenceTally found = tally(all, all);
      EXPECT_EQ(found.finite, bits.size());
      EXPECT_EQ(found.inf_reference, 2U);
      EXPECT_EQ(found.nan_candidate, 65536 - bits.size() - 2);
      EXPECT_EQ(found.max_absolute, 0);
      EXPECT_EQ(found.cosine(), 1);
      const Tensor zeros = make_tensor<std::uint16_t>(dtype, finite.shape, std::vector<std::uint16_t>(bits.size()));
      expect_figures(tally(zeros, finite), exact_values(zeros), exact_values(finite));
    }
  });
}

TEST(DifferenceTally, MeansAndSpreadsFarApart) {
  on_each_target([] {
    std::mt19937_64 random(2);
    for (const double offset : {0.0, 1e9, -1e12}) {
      for (const double spread : {1e-3, 1.0, 1e30, 1e-30}) {
        for (const std::size_t count : {3, 100, 10000}) {
          SCOPED_TRACE(std::to_string(offset) + " " + std::to_string(spread) + " " + std::to_string(count));
          std::vector<double> r = random_values(random, DType::float64, count);
          std::vector<double> c = random_values(random, DType::float64, count);
          for (double& value : r) value = offset + spread * value;
          for (double& value : c) value = offset + spread * value;
          if (expected(r, c).centred_r == 0) continue;
          expect_figures(tally(r, c), r, c);
        }
      }
    }
  });
}

// One value that outweighs a block by far, wherever it is.
TEST(DifferenceTally, OneLargeValueAmongSmallOnes) {
  on_each_target([] {
    std::mt19937_64 random(3);
    for (const std::size_t at : {0, 1, 100, 8191, 8192, 9999}) {
      std::vector<double> r = random_values(random, DType::float64, 10000);
      std::vector<double> c = random_values(random, DType::float64, 10000);
      r[at] = 1e30;
      c[at] = 3e30;
      expect_figures(tally(r, c), r, c);
    }
  });
}

TEST(DifferenceTally, TheFirstOfTheLargest) {
  on_each_target([] {
    for (const std::size_t first : {0, 5, 8191, 8192, 8200, 19999}) {
      std::vector<double> r(20000, 1), c(20000, 1);
      c[first] = -3;
      c[19999] = 5;
      const DifferenceTally found = tally(tensor(DType::float32, r), tensor(DType::float32, c));
      EXPECT_EQ(found.max_absolute, 4);
      EXPECT_EQ(found.max_absolute_index, first);
      EXPECT_EQ(found.candidate_at_max, first == 19999 ? 5 : -3);
    }
  });
}

TEST(DifferenceTally, NonFiniteValuesAreCountedAndLeftOut) {
  on_each_target([] {
    std::mt19937_64 random(4);
    for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
      std::vector<double> r = exact_values(tensor(dtype, random_values(random, dtype, 20000)));
      std::vector<double> c = exact_values(tensor(dtype, random_values(random, dtype, 20000)));
      std::vector<double> finite_r, finite_c;
      r[0] = nan, c[0] = nan;
      r[5] = inf, c[5] = inf;
      r[8000] = inf, c[8000] = -inf;
      c[12345] = nan;
      r[19999] = -inf;
      for (std::size_t i = 0; i < r.size(); ++i) {
        if (!std::isfinite(r[i]) || !std::isfinite(c[i])) continue;
        finite_r.push_back(r[i]);
        finite_c.push_back(c[i]);
      }
      const DifferenceTally found = tally(tensor(dtype, r), tensor(dtype, c));
      EXPECT_EQ(found.count, 20000U);
      EXPECT_EQ(found.finite, 19995U);
      EXPECT_EQ(found.nan_reference, 1U);
      EXPECT_EQ(found.nan_candidate, 2U);
      EXPECT_EQ(found.inf_reference, 3U);
      EXPECT_EQ(found.inf_candidate, 2U);
      EXPECT_EQ(found.non_finite_apart, 3U);
      EXPECT_EQ(found.first_non_finite_apart, 8000U);
      const Expected e = expected(finite_r, finite_c);
      EXPECT_EQ(found.max_absolute, e.most);
      expect_near(found.sum_product, e.rc, e.rc, "sum rc");
      expect_near(found.centred_product, e.centred_rc, std::sqrt(e.centred_r * e.centred_c), "centred rc");
    }
  });
}

TEST(DifferenceTally, WithoutFinitePairsThereAreNoFigures) {
  for (const auto& values : {std::vector<double>{}, std::vector<double>{nan, inf}}) {
    const DifferenceTally found = tally(values, values);
    EXPECT_FALSE(found.mae() || found.mse() || found.rmse() || found.relative_l1() || found.relative_l2() ||
                 found.relative_max() || found.cosine() || found.pearson() || found.data_range() || found.psnr_db());
  }
}

TEST(DifferenceTally, ConstantsHaveNoCorrelation) {
  on_each_target([] {
    std::mt19937_64 random(5);
    for (std::size_t count = 1; count < 40; ++count) {
      const std::vector<double> constant(count, 0.1), values = random_values(random, DType::float64, count);
      EXPECT_FALSE(tally(constant, values).pearson()) << count;
      EXPECT_FALSE(tally(values, constant).pearson()) << count;
    }
  });
}

TEST(DifferenceTally, EqualValuesHaveFiguresWithoutError) {
  on_each_target([] {
    std::mt19937_64 random(6);
    for (const std::size_t count : {2, 9, 100, 20000}) {
      std::vector<double> values = random_values(random, DType::float64, count);
      for (double& value : values) value += 1e7;
      const DifferenceTally found = tally(values, values);
      EXPECT_EQ(found.mse(), 0);
      EXPECT_EQ(found.cosine(), 1);
      EXPECT_EQ(found.pearson(), 1);
      EXPECT_EQ(found.psnr_db(), inf);
      EXPECT_EQ(found.max_absolute_index, 0U);
      EXPECT_EQ(found.reference_at_max, values[0]);
    }
    EXPECT_EQ(tally({3, 3}, {3, 3}).psnr_db(), inf);
    EXPECT_FALSE(tally({3, 3}, {3, 4}).psnr_db()) << "a constant has no range";
  });
}

TEST(DifferenceTally, SquaresThatLeaveTheRangeOfDoubles) {
  on_each_target([] {
    std::vector<double> r(100, 1e200), c(100, -1e200);
    r[3] = 1e308, c[3] = -1e308;
    const DifferenceTally found = tally(r, c);
    EXPECT_EQ(found.finite, 100U);
    EXPECT_EQ(found.max_absolute, std::numeric_limits<double>::max());
    EXPECT_EQ(found.max_absolute_index, 3U);
    EXPECT_FALSE(found.mse() || found.relative_l2() || found.cosine() || found.pearson());
  });
}

TEST(DifferenceTally, RangesOfPsnr) {
  const DifferenceTally found = tally({0, 10, 200}, {0, 12, 201});
  EXPECT_NEAR(*found.psnr_db(), 10 * std::log10(200.0 * 200.0 / (5.0 / 3.0)), 1e-12);
  EXPECT_NEAR(*found.psnr_db(255), 10 * std::log10(255.0 * 255.0 / (5.0 / 3.0)), 1e-12);
}

TEST(DifferenceTally, ViewsAtAnyAddress) {
  on_each_target([] {
    const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
    const Tensor whole_tensor = tensor(DType::float32, values);
    std::vector<std::byte> memory(whole_tensor.data.size() + 3);
    std::memcpy(memory.data() + 3, whole_tensor.data.data(), whole_tensor.data.size());
    const Tensor odd{DType::float32, {17}, Bytes::view(std::span(memory).subspan(3), nullptr), {}};
    expect_figures(tally(odd, odd), values, values);
  });
}

TEST(DifferenceTally, CountsWhatIsBeyondABound) {
  std::mt19937_64 random(7);
  for (const DType dtype : number_types) {
    for (const std::size_t count : {1, 9, 2100, 20000}) {
      const Tensor r = tensor(dtype, random_values(random, dtype, count));
      const Tensor c = tensor(dtype, random_values(random, dtype, count));
      const std::vector<double> exact_r = exact_values(r), exact_c = exact_values(c);
      for (const double bound : {0.0, 1.0, 60.0, 1000.0}) {
        std::uint64_t beyond = 0;
        for (std::size_t i = 0; i < count; ++i) beyond += std::abs(exact_c[i] - exact_r[i]) > bound ? 1 : 0;
        on_each_target(
            [&] { EXPECT_EQ(count_beyond(r, c, bound), beyond) << to_string(dtype) << ' ' << count << ' ' << bound; });
      }
    }
  }
  on_each_target([] {
    std::vector<double> r(20000, 1), c(20000, 1);
    r[3] = nan, c[3] = nan;
    r[9000] = inf;
    c[19999] = 3;
    EXPECT_EQ(count_beyond(tensor(DType::float32, r), tensor(DType::float32, c), 1), 2U);
  });
}

TEST(DifferenceTally, TwoTypesOfOneClass) {
  const Tensor r = tensor(DType::float32, {1, 2, 3}), c = tensor(DType::float64, {1, 2, 3.5});
  EXPECT_EQ(tally(r, c).max_absolute, 0.5);
}

TEST(DifferenceTally, SaysWhatCannotBeCompared) {
  const Tensor r = tensor(DType::float32, {1, 2, 3});
  EXPECT_EQ(difference_of(r, r).value().count, 3U);
  EXPECT_THAT(difference_of(r, tensor(DType::int8, {1, 2, 3})).error().message,
              HasSubstr("the candidate is int8 here but float32 in the reference"));
  EXPECT_THAT(difference_of(r, tensor(DType::float32, {1, 2})).error().message,
              HasSubstr("the candidate has shape [2] here but [3] in the reference"));
  const Tensor text{DType::string, {1}, {}, {"a"}};
  EXPECT_THAT(difference_of(text, text).error().message, HasSubstr("strings have no differences"));
}

// Wherever a data set is cut, and whatever is in its parts.
RC_GTEST_PROP(DifferenceTallyProperty, TalliesOfPartsAddUpToThatOfTheWhole, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 6000);
  const auto cut = *rc::gen::inRange<std::size_t>(0, count + 1);
  const auto offset = *rc::gen::element(0.0, 1e6, -1e3);
  const auto bad = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, count));
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<double> r = random_values(random, DType::float64, count), c = r;
  for (double& value : r) value += offset;
  for (double& value : c) value += offset + 1e-3 * static_cast<double>(random() % 1000);
  for (const std::size_t i : bad) (random() % 2 == 0 ? r : c)[i] = random() % 2 == 0 ? nan : inf;
  const auto part = [&](std::size_t begin, std::size_t end) {
    const auto cut_out = [&](const std::vector<double>& of) {
      return tensor(DType::float64,
                    {of.begin() + static_cast<std::ptrdiff_t>(begin), of.begin() + static_cast<std::ptrdiff_t>(end)});
    };
    DifferenceTally sum;
    sum.add(cut_out(r), cut_out(c), begin);
    return sum;
  };
  const DifferenceTally all = part(0, count);
  DifferenceTally sum = part(0, cut);
  sum.add(part(cut, count));
  RC_ASSERT(sum.count == all.count);
  RC_ASSERT(sum.finite == all.finite);
  RC_ASSERT(sum.nan_reference == all.nan_reference);
  RC_ASSERT(sum.inf_candidate == all.inf_candidate);
  RC_ASSERT(sum.non_finite_apart == all.non_finite_apart);
  RC_ASSERT(sum.non_finite_apart == 0 || sum.first_non_finite_apart == all.first_non_finite_apart);
  RC_ASSERT(sum.max_absolute == all.max_absolute);
  RC_ASSERT(sum.max_absolute_index == all.max_absolute_index);
  RC_ASSERT(sum.reference_at_max == all.reference_at_max);
  RC_ASSERT(sum.data_range() == all.data_range());
  const auto near = [](std::optional<double> a, std::optional<double> b) {
    return a.has_value() == b.has_value() && (!a || *a == *b || std::abs(*a - *b) <= 1e-9 * std::abs(*b));
  };
  RC_ASSERT(near(sum.mae(), all.mae()));
  RC_ASSERT(near(sum.mse(), all.mse()));
  RC_ASSERT(near(sum.relative_l1(), all.relative_l1()));
  RC_ASSERT(near(sum.relative_l2(), all.relative_l2()));
  RC_ASSERT(near(sum.cosine(), all.cosine()));
  RC_ASSERT(near(sum.pearson(), all.pearson()));
  RC_ASSERT(near(sum.psnr_db(), all.psnr_db()));
}

}  // namespace
}  // namespace infermeter::difference_tally_test
