// Requests that another tool measured -> what a trial leaves.
#pragma once

#include <vector>

#include "infermeter/importing/requests_file.hpp"
#include "infermeter/samples/samples.hpp"

namespace infermeter {

// Times, tokens and counters; those of a load where `clients` is more than 1: a closed loop of as many, as when each
// request was due is not reported. Otherwise those that failed are left out.
void fill_from_requests(Samples& trial, const std::vector<TimedRequest>& sorted, int clients);

}  // namespace infermeter
