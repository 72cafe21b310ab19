#include "infermeter/data/port_fit.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>

namespace infermeter::port_fit_test {
namespace {

Port port(Shape shape) {
  Port made;
  made.name = "x";
  made.dtype = DType::float32;
  made.shape = std::move(shape);
  made.batch_axis = 0;
  return made;
}

std::string refusal(const Port& wanted, DType dtype, Shape shape) {
  const auto fits = check_value(wanted, {.tensor = {dtype, std::move(shape), {}, {}}}, "x.pb");
  return fits.ok() ? "" : fits.error().message;
}

// Another batch size is the advice only where the batch is all that keeps the data from fitting.
TEST(CheckValue, AdvisesWhatWouldHelp) {
  EXPECT_EQ(refusal(port({4, 3}), DType::float32, {2, 3}),
            "input 'x' needs float32 [4, 3], 'x.pb' has float32 [2, 3]; give --batch-sizes 2");
  EXPECT_EQ(refusal(port({4, 3}), DType::float64, {2, 3}), "input 'x' needs float32 [4, 3], 'x.pb' has float64 [2, 3]");
  EXPECT_EQ(refusal(port({-1, 3}), DType::float64, {2, 3}),
            "input 'x' needs float32 [?, 3], 'x.pb' has float64 [2, 3]");
  EXPECT_EQ(refusal(port({4, 3}), DType::float32, {2, 5}), "input 'x' needs float32 [4, 3], 'x.pb' has float32 [2, 5]");
  EXPECT_EQ(refusal(port({4, 3}), DType::float32, {2, 3, 1}),
            "input 'x' needs float32 [4, 3], 'x.pb' has float32 [2, 3, 1]");
  EXPECT_EQ(refusal(port({-1, 3}), DType::float32, {2, 3}), "");
}

}  // namespace
}  // namespace infermeter::port_fit_test
