#include "infermeter/stats/distributions/normal.hpp"

#include <boost/math/distributions/normal.hpp>

namespace infermeter {

double normal_tail_quantile(double tail) {
  return boost::math::quantile(boost::math::complement(boost::math::normal(), tail));
}

}  // namespace infermeter
