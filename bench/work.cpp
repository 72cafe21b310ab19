// A command to be timed as a whole: as many inferences of the `fake` back end's compute=UNITS, and nothing else.
// usage: work UNITS INFERENCES
#include <cstdlib>

#include "fake/compute.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto units = std::strtoull(argv[1], nullptr, 10);
  const auto inferences = std::strtoull(argv[2], nullptr, 10);
  infermeter::Computation computation;
  for (unsigned long long i = 0; i < inferences; ++i) computation.run(units);
}
