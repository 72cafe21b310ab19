#include "infermeter/stats/distributions/student_t.hpp"

#include <boost/math/distributions/students_t.hpp>

namespace infermeter {

double student_t_tail(double t, double degrees) {
  return boost::math::cdf(boost::math::complement(boost::math::students_t(degrees), t));
}

}  // namespace infermeter
