// conformance_model NAME FILE: writes a model of the zoo.
#include <cstdio>

#include "infermeter/models/zoo/zoo.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto built = infermeter::build_zoo_model(argv[1], argv[2]);
  if (!built) std::fprintf(stderr, "%s\n", built.error().message.c_str());
  return built ? 0 : 1;
}
