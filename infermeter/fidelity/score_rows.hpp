// Rows of scores against each other: does a classifier still choose the same class?
#pragma once

#include <cstdint>
#include <optional>

#include "infermeter/data/tensor.hpp"

namespace infermeter {

struct RowAgreement {
  std::uint64_t rows = 0, top1 = 0;   // top1: rows with the same largest score
  std::optional<std::uint64_t> top5;  // rows whose reference's largest is among the candidate's five largest; nullopt:
                                      // not more than five classes
  // Sum over rows of the Kullback-Leibler divergence of the candidate's distribution from the reference's, Σ p ln(p /
  // q), in nats (Kullback and Leibler 1951). Rows that are not negative and sum to 1 are distributions, others are
  // logits (softmax). nullopt: it is infinite in one, or has no value.
  std::optional<double> divergence = 0;
};

// Of two tensors of one shape. It looks like scores if it is [rows, classes] of a floating-point type with at least two
// classes; nullopt: it does not. The first of the largest counts; NaN counts as the largest, as in NumPy.
[[nodiscard]] std::optional<RowAgreement> agreeing_rows(const Tensor& reference, const Tensor& candidate);

}  // namespace infermeter
