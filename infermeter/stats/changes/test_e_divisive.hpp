// What fixtures/make_e_divisive.py wrote, for the tests of this folder.
#pragma once

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "infermeter/diagnostics/test_paths.hpp"
#include "infermeter/stats/changes/energy_split.hpp"

namespace infermeter {

struct DivisiveCase {
  std::string name;
  std::vector<double> values;
  EnergySplit all_ends, whole_rest;
  std::vector<std::size_t> points;
  double p = 1;
};

template <typename Number>
std::vector<Number> numbers_of_line(std::istream& file) {
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  std::vector<Number> numbers;
  for (Number number; words >> number;) numbers.push_back(number);
  return numbers;
}

inline EnergySplit split_of_line(std::istream& file) {
  const auto numbers = numbers_of_line<double>(file);
  return {static_cast<std::size_t>(numbers.at(0)), numbers.at(1)};
}

inline std::vector<DivisiveCase> divisive_cases() {
  std::ifstream file(std::string(test::source_dir) + "/infermeter/stats/fixtures/e_divisive.txt");
  std::vector<DivisiveCase> cases;
  for (DivisiveCase next; std::getline(file, next.name);) {
    next.values = numbers_of_line<double>(file);
    next.all_ends = split_of_line(file);
    next.whole_rest = split_of_line(file);
    next.points = numbers_of_line<std::size_t>(file);
    next.p = numbers_of_line<double>(file).at(0);
    cases.push_back(next);
  }
  return cases;
}

}  // namespace infermeter
