// Student's t distribution.
#pragma once

namespace infermeter {

// P(T > t) with `degrees` > 0 degrees of freedom.
[[nodiscard]] double student_t_tail(double t, double degrees);

}  // namespace infermeter
