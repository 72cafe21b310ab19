#include "infermeter/fidelity/tally_kernel.hpp"

#include <cstdint>

#include "infermeter/fidelity/instructions.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "infermeter/fidelity/tally_kernel.cpp"
#include <hwy/foreach_target.h>
// After it: what is compiled for each target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "infermeter/fidelity/load_doubles.hpp"

HWY_BEFORE_NAMESPACE();
namespace infermeter::HWY_NAMESPACE {

// Two pages ahead: by itself the processor does not look beyond the page that it is in. The address may be no one's.
HWY_INLINE void prefetch(const void* from) {
  hwy::Prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(from) + 8192));
}

template <class T>
BlockSums sums_of(const T* r_begin, const T* c_begin, std::size_t count) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  BlockSums sums;
  sums.count = count / lanes * lanes;
  if (sums.count == 0) return sums;
  sums.shift_reference = hn::GetLane(load_doubles(r_begin));
  sums.shift_candidate = hn::GetLane(load_doubles(c_begin));
  const auto shift_r = hn::Set(d, sums.shift_reference), shift_c = hn::Set(d, sums.shift_candidate);
  auto sum_r = hn::Zero(d), sum_c = hn::Zero(d), square_r = hn::Zero(d), square_c = hn::Zero(d), product = hn::Zero(d);
  auto absolute_r = hn::Zero(d), absolute_d = hn::Zero(d), square_d = hn::Zero(d), most = hn::Zero(d);
  const auto one = hn::Set(d, 1.0);  // a sum by way of a product goes where sums do not queue
  auto low = load_doubles(r_begin), high = low;
  for (std::size_t i = 0; i < sums.count; i += lanes) {
    prefetch(r_begin + i);
    prefetch(c_begin + i);
    const auto r = load_doubles(r_begin + i), c = load_doubles(c_begin + i);
    const auto difference = hn::Sub(c, r);
    const auto distance = hn::Abs(difference);
    const auto shifted_r = hn::Sub(r, shift_r), shifted_c = hn::Sub(c, shift_c);
    low = hn::Min(low, r);
    high = hn::Max(high, r);
    most = hn::Max(most, distance);
    sum_r = hn::MulAdd(shifted_r, one, sum_r);
    sum_c = hn::MulAdd(shifted_c, one, sum_c);
    absolute_r = hn::MulAdd(hn::Abs(r), one, absolute_r);
    absolute_d = hn::MulAdd(distance, one, absolute_d);
    square_d = hn::MulAdd(difference, difference, square_d);
    square_r = hn::MulAdd(shifted_r, shifted_r, square_r);
    square_c = hn::MulAdd(shifted_c, shifted_c, square_c);
    product = hn::MulAdd(shifted_r, shifted_c, product);
  }
  const auto sum_of = [&](DoubleVector lanes_of_it) { return hn::GetLane(hn::SumOfLanes(d, lanes_of_it)); };
  sums.reference = sum_of(sum_r);
  sums.candidate = sum_of(sum_c);
  sums.reference_squared = sum_of(square_r);
  sums.candidate_squared = sum_of(square_c);
  sums.product = sum_of(product);
  sums.absolute_reference = sum_of(absolute_r);
  sums.absolute_difference = sum_of(absolute_d);
  sums.difference_squared = sum_of(square_d);
  sums.low = hn::GetLane(hn::MinOfLanes(d, low));
  sums.high = hn::GetLane(hn::MaxOfLanes(d, high));
  sums.max_absolute = hn::GetLane(hn::MaxOfLanes(d, most));
  return sums;
}

template <class T>
std::size_t first_with(const T* r, const T* c, std::size_t count, double value) {
  const Doubles d;
  const auto wanted = hn::Set(d, value);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto distance = hn::Abs(hn::Sub(load_doubles(c + i), load_doubles(r + i)));
    const auto at = hn::FindFirstTrue(d, hn::Eq(distance, wanted));
    if (at >= 0) return i + static_cast<std::size_t>(at);
  }
  return 0;
}

template <class T>
std::size_t count_beyond_bound(const T* r, const T* c, std::size_t count, double bound) {
  const Doubles d;
  const auto most = hn::Set(d, bound);
  std::size_t beyond = 0;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto distance = hn::Abs(hn::Sub(load_doubles(c + i), load_doubles(r + i)));
    beyond += hn::CountTrue(d, hn::Gt(distance, most));
  }
  return beyond;
}

BlockSums sum_any(DType dtype, const std::byte* reference, const std::byte* candidate, std::size_t count) {
  BlockSums sums;
  with_loadable(dtype, [&](auto* type) {
    using Elements = decltype(type);
    sums = sums_of(reinterpret_cast<Elements>(reference), reinterpret_cast<Elements>(candidate), count);
  });
  return sums;
}

std::size_t find_any(DType dtype, const std::byte* reference, const std::byte* candidate, std::size_t count,
                     double value) {
  std::size_t found = 0;
  with_loadable(dtype, [&](auto* type) {
    using Elements = decltype(type);
    found = first_with(reinterpret_cast<Elements>(reference), reinterpret_cast<Elements>(candidate), count, value);
  });
  return found;
}

std::size_t count_any(DType dtype, const std::byte* reference, const std::byte* candidate, std::size_t count,
                      double bound) {
  std::size_t beyond = 0;
  with_loadable(dtype, [&](auto* type) {
    using Elements = decltype(type);
    beyond =
        count_beyond_bound(reinterpret_cast<Elements>(reference), reinterpret_cast<Elements>(candidate), count, bound);
  });
  return beyond;
}

}  // namespace infermeter::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace infermeter {

BlockSums sum_block(DType dtype, const std::byte* reference, const std::byte* candidate, std::size_t count) {
  return INFERMETER_KERNEL(sum_any)(dtype, reference, candidate, count);
}

std::size_t find_difference(DType dtype, const std::byte* reference, const std::byte* candidate, std::size_t count,
                            double value) {
  return INFERMETER_KERNEL(find_any)(dtype, reference, candidate, count, value);
}

std::size_t count_differences(DType dtype, const std::byte* reference, const std::byte* candidate, std::size_t count,
                              double bound) {
  return INFERMETER_KERNEL(count_any)(dtype, reference, candidate, count, bound);
}

}  // namespace infermeter
#endif
