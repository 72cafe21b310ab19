#include "infermeter/fidelity/ssim_kernel.hpp"

#include <cstring>
#include <type_traits>

#include "infermeter/fidelity/instructions.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "infermeter/fidelity/ssim_kernel.cpp"
#include <hwy/foreach_target.h>
// After it: what is compiled for each target.
#include <hwy/highway.h>

#include "infermeter/fidelity/load_doubles.hpp"

HWY_BEFORE_NAMESPACE();
namespace infermeter::HWY_NAMESPACE {

// `count` numbers from row + x on: as many as a vector has, or what a short row has, and zeros.
template <class T>
HWY_INLINE DoubleVector load_some(const std::byte* row, std::size_t x, std::size_t count) {
  if (HWY_LIKELY(count == hn::Lanes(Doubles()))) return load_doubles(reinterpret_cast<const T*>(row) + x);
  T few[FiveRows::room] = {};
  std::memcpy(few, row + x * sizeof(T), count * sizeof(T));
  return load_doubles(few);
}

// The five sums of a vector of windows.
struct FiveSums {
  DoubleVector r, c, rr, cc, rc;
  HWY_INLINE FiveSums() : r(hn::Zero(Doubles())), c(r), rr(r), cc(r), rc(r) {}

  HWY_INLINE void add(DoubleVector weight, DoubleVector pixel_r, DoubleVector pixel_c) {
    const auto weighed_r = hn::Mul(weight, pixel_r), weighed_c = hn::Mul(weight, pixel_c);
    r = hn::Add(r, weighed_r);
    c = hn::Add(c, weighed_c);
    rr = hn::MulAdd(weighed_r, pixel_r, rr);
    cc = hn::MulAdd(weighed_c, pixel_c, cc);
    rc = hn::MulAdd(weighed_r, pixel_c, rc);
  }
  HWY_INLINE void store(FiveRows sums, std::size_t x) const {
    const Doubles d;
    hn::StoreU(r, d, sums.values + x);
    hn::StoreU(c, d, sums.values + sums.stride + x);
    hn::StoreU(rr, d, sums.values + 2 * sums.stride + x);
    hn::StoreU(cc, d, sums.values + 3 * sums.stride + x);
    hn::StoreU(rc, d, sums.values + 4 * sums.stride + x);
  }
};

template <class T>
void weigh_rows_of(std::span<const std::byte* const> reference, std::span<const std::byte* const> candidate,
                   std::span<const double> weights, std::size_t count, const SsimUnits& units, FiveRows sums) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, units.scale);
  const auto shift_r = hn::Set(d, units.shift_reference), shift_c = hn::Set(d, units.shift_candidate);
  std::size_t begin = 0;
  // Two vectors at a time: rows that lie a power of two apart push each other out of the first-level cache.
  for (; begin + 2 * lanes <= count; begin += 2 * lanes) {
    FiveSums a, b;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const auto weight = hn::Set(d, weights[k]);
      const T* r = reinterpret_cast<const T*>(reference[k]) + begin;
      const T* c = reinterpret_cast<const T*>(candidate[k]) + begin;
      a.add(weight, hn::MulSub(load_doubles(r), scale, shift_r), hn::MulSub(load_doubles(c), scale, shift_c));
      b.add(weight, hn::MulSub(load_doubles(r + lanes), scale, shift_r),
            hn::MulSub(load_doubles(c + lanes), scale, shift_c));
    }
    a.store(sums, begin);
    b.store(sums, begin + lanes);
  }
  for (; begin < count; begin += lanes) {
    // The last vector ends where the row ends, and does some numbers again.
    const std::size_t x = begin + lanes <= count ? begin : (count < lanes ? 0 : count - lanes);
    const std::size_t here = count < lanes ? count : lanes;
    FiveSums a;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const auto weight = hn::Set(d, weights[k]);
      const auto r = hn::MulSub(load_some<T>(reference[k], x, here), scale, shift_r);
      const auto c = hn::MulSub(load_some<T>(candidate[k], x, here), scale, shift_c);
      a.add(weight, r, c);
    }
    a.store(sums, x);
  }
}

void weigh_rows_any(DType dtype, std::span<const std::byte* const> reference,
                    std::span<const std::byte* const> candidate, std::span<const double> weights, std::size_t count,
                    const SsimUnits& units, FiveRows sums) {
  with_loadable(dtype, [&](auto* type) {
    using Element = std::remove_cvref_t<decltype(*type)>;
    weigh_rows_of<Element>(reference, candidate, weights, count, units, sums);
  });
}

void weigh_sums_any(std::span<const double* const> rows, std::span<const double> weights, FiveRows sums) {
  const Doubles d;
  for (std::size_t i = 0; i < 5 * sums.stride; i += hn::Lanes(d)) {
    auto sum = hn::Zero(d);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      sum = hn::MulAdd(hn::Set(d, weights[k]), hn::LoadU(d, rows[k] + i), sum);
    }
    hn::StoreU(sum, d, sums.values + i);
  }
}

double sum_similarity_any(FiveRows rows, std::span<const double> weights, std::size_t step, std::size_t count,
                          const SsimConstants& constants) {
  const Doubles d;
  const auto c1 = hn::Set(d, constants.c1), c2 = hn::Set(d, constants.c2), sample = hn::Set(d, constants.sample);
  const auto base_r = hn::Set(d, constants.mean_reference), base_c = hn::Set(d, constants.mean_candidate);
  const auto two = hn::Set(d, 2.0);
  auto total = hn::Zero(d);
  for (std::size_t x = 0; x < count; x += hn::Lanes(d)) {
    auto mean_r = hn::Zero(d), mean_c = hn::Zero(d), square_r = hn::Zero(d), square_c = hn::Zero(d),
         product = hn::Zero(d);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const auto weight = hn::Set(d, weights[k]);
      const double* from = rows.values + x + k * step;
      mean_r = hn::MulAdd(weight, hn::LoadU(d, from), mean_r);
      mean_c = hn::MulAdd(weight, hn::LoadU(d, from + rows.stride), mean_c);
      square_r = hn::MulAdd(weight, hn::LoadU(d, from + 2 * rows.stride), square_r);
      square_c = hn::MulAdd(weight, hn::LoadU(d, from + 3 * rows.stride), square_c);
      product = hn::MulAdd(weight, hn::LoadU(d, from + 4 * rows.stride), product);
    }
    const auto variances = hn::Sub(hn::Add(square_r, square_c), hn::MulAdd(mean_r, mean_r, hn::Mul(mean_c, mean_c)));
    const auto covariance = hn::NegMulAdd(mean_r, mean_c, product);
    const auto r = hn::Add(mean_r, base_r), c = hn::Add(mean_c, base_c);
    const auto luminance_above = hn::MulAdd(hn::Mul(two, r), c, c1);
    const auto luminance_below = hn::Add(hn::MulAdd(r, r, hn::Mul(c, c)), c1);
    const auto structure_above = hn::MulAdd(hn::Mul(two, sample), covariance, c2);
    const auto structure_below = hn::MulAdd(sample, variances, c2);
    const auto similarity =
        hn::Div(hn::Mul(luminance_above, structure_above), hn::Mul(luminance_below, structure_below));
    total = hn::Add(total, hn::IfThenElseZero(hn::FirstN(d, count - x), similarity));
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

}  // namespace infermeter::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infermeter {

bool ssim_takes(DType dtype) {
  return HWY_NAMESPACE::with_loadable(dtype, [](auto*) {});
}

void weigh_rows(DType dtype, std::span<const std::byte* const> reference, std::span<const std::byte* const> candidate,
                std::span<const double> weights, std::size_t count, const SsimUnits& units, FiveRows sums) {
  INFERMETER_KERNEL(weigh_rows_any)(dtype, reference, candidate, weights, count, units, sums);
}

void weigh_sums(std::span<const double* const> rows, std::span<const double> weights, FiveRows sums) {
  INFERMETER_KERNEL(weigh_sums_any)(rows, weights, sums);
}

double sum_similarity(FiveRows rows, std::span<const double> weights, std::size_t step, std::size_t count,
                      const SsimConstants& constants) {
  return INFERMETER_KERNEL(sum_similarity_any)(rows, weights, step, count, constants);
}

}  // namespace infermeter
#endif
