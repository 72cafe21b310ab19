#include "infermeter/plan/python_words.hpp"

#include <gtest/gtest.h>

namespace infermeter::python_words_test {
namespace {

TEST(PythonWords, FlagsAreArguments) {
  EXPECT_EQ(in_python_words("Raise --iterations or --duration."), "Raise iterations= or duration=.");
  EXPECT_EQ(in_python_words("would settle it (--processes 10)"), "would settle it (processes=10)");
  EXPECT_EQ(in_python_words("Use --outliers none to see all; --stacks off."),
            "Use outliers=\"none\" to see all; stacks=\"off\".");
  EXPECT_EQ(in_python_words("Lower --threads by one, --warmup N."), "Lower threads= by one, warmup=N.");
  EXPECT_EQ(in_python_words("name it: --batch-axis INPUT=AXIS, or --batch-axis none"),
            "name it: batch_axis={\"INPUT\": AXIS}, or batch_axis=\"none\"");
}

TEST(PythonWords, WhatObjectsHaveNoArgumentForIsNamedAsItIsThere) {
  EXPECT_EQ(in_python_words("(--format json), lower --batch-sizes, or give --data"),
            "(record.render(\"json\")), lower the batch size of the inputs, or give inputs");
  EXPECT_EQ(in_python_words("Finish the run with --resume."), "Finish the run with resume=.");
}

TEST(PythonWords, OtherTextStays) {
  for (const char* text :
       {"", "-", "--", "a--processes", "--nothing 3", "--processes-of-mine", "cmake --preset release"})
    EXPECT_EQ(in_python_words(text), text);
}

}  // namespace
}  // namespace infermeter::python_words_test
