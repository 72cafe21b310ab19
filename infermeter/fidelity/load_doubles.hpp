// Elements of the usual types as vectors of doubles, which hold them exactly. For kernels that Highway compiles once
// per set of instructions (hwy/foreach_target.h): the guard lets this file in once for each.
#if defined(INFERMETER_FIDELITY_LOAD_DOUBLES_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INFERMETER_FIDELITY_LOAD_DOUBLES_HPP
#undef INFERMETER_FIDELITY_LOAD_DOUBLES_HPP
#else
#define INFERMETER_FIDELITY_LOAD_DOUBLES_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "infermeter/data/dtype.hpp"

HWY_BEFORE_NAMESPACE();
namespace infermeter::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;
using DoubleVector = hn::Vec<Doubles>;

template <class T>
using NarrowTag = hn::Rebind<T, Doubles>;  // as many lanes, of T

HWY_INLINE DoubleVector load_doubles(const double* from) { return hn::LoadU(Doubles(), from); }
HWY_INLINE DoubleVector load_doubles(const float* from) {
  return hn::PromoteTo(Doubles(), hn::LoadU(NarrowTag<float>(), from));
}
HWY_INLINE DoubleVector load_doubles(const std::int32_t* from) {
  return hn::PromoteTo(Doubles(), hn::LoadU(NarrowTag<std::int32_t>(), from));
}

HWY_INLINE DoubleVector load_doubles(const hwy::bfloat16_t* from) {
  return hn::PromoteTo(Doubles(), hn::PromoteTo(NarrowTag<float>(), hn::LoadU(NarrowTag<hwy::bfloat16_t>(), from)));
}

// Highway's own conversion gives numbers for infinities and NaN where the processor has none. The bits of a float16,
// moved to where a float has them, are the number times 2^-112, subnormal ones included; an exponent of all ones must
// be set again.
HWY_INLINE DoubleVector load_doubles(const hwy::float16_t* from) {
  const NarrowTag<float> floats;
  const NarrowTag<std::uint32_t> words;
  const auto bits =
      hn::PromoteTo(words, hn::LoadU(NarrowTag<std::uint16_t>(), reinterpret_cast<const std::uint16_t*>(from)));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(words, 0x8000U)));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(words, 0x7FFFU)));
  const auto scaled = hn::Mul(hn::BitCast(floats, magnitude), hn::Set(floats, 0x1p112F));
  const auto beyond = hn::Ge(scaled, hn::Set(floats, 65536.0F));
  const auto ones = hn::IfThenElseZero(beyond, hn::BitCast(floats, hn::Set(words, 0x7F800000U)));
  return hn::PromoteTo(Doubles(), hn::Or(hn::Or(scaled, ones), hn::BitCast(floats, sign)));
}

// Small integers, by way of int32.
template <class T>
HWY_INLINE DoubleVector load_small(const T* from) {
  return hn::PromoteTo(Doubles(), hn::PromoteTo(NarrowTag<std::int32_t>(), hn::LoadU(NarrowTag<T>(), from)));
}
HWY_INLINE DoubleVector load_doubles(const std::int8_t* from) { return load_small(from); }
HWY_INLINE DoubleVector load_doubles(const std::uint8_t* from) { return load_small(from); }
HWY_INLINE DoubleVector load_doubles(const std::int16_t* from) { return load_small(from); }
HWY_INLINE DoubleVector load_doubles(const std::uint16_t* from) { return load_small(from); }

// Calls `use` with a null pointer to the type that `dtype`'s elements are loaded as; false: there is none.
template <class Use>
HWY_INLINE bool with_loadable(DType dtype, Use use) {
  switch (dtype) {
    case DType::float32:
    case DType::complex64: return use(static_cast<const float*>(nullptr)), true;
    case DType::float64:
    case DType::complex128: return use(static_cast<const double*>(nullptr)), true;
    case DType::float16: return use(static_cast<const hwy::float16_t*>(nullptr)), true;
    case DType::bfloat16: return use(static_cast<const hwy::bfloat16_t*>(nullptr)), true;
    case DType::int32: return use(static_cast<const std::int32_t*>(nullptr)), true;
    case DType::int8: return use(static_cast<const std::int8_t*>(nullptr)), true;
    case DType::uint8: return use(static_cast<const std::uint8_t*>(nullptr)), true;
    case DType::int16: return use(static_cast<const std::int16_t*>(nullptr)), true;
    case DType::uint16: return use(static_cast<const std::uint16_t*>(nullptr)), true;
    default: return false;
  }
}

}  // namespace infermeter::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
