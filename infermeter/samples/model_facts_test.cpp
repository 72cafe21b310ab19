#include "infermeter/samples/model_facts.hpp"

#include <gtest/gtest.h>

#include "infermeter/samples/samples.hpp"

namespace infermeter::model_facts_test {

TEST(ModelFacts, TakesTheSizeThatTheRuntimeTells) {
  ModelFacts model;
  model.size_bytes = 180;
  Samples trial;
  take_reported_size(model, trial);
  EXPECT_EQ(model.size_bytes, 180U);
  EXPECT_FALSE(model.parameters);
  trial.executed = {{"model_bytes", "145832"}, {"parameters", "144458"}};
  take_reported_size(model, trial);
  EXPECT_EQ(model.size_bytes, 145'832U);
  EXPECT_EQ(model.parameters, 144'458U);
}

TEST(ModelFacts, NonzeroParametersAreForgottenWithTheCountThatTheyAreOf) {
  ModelFacts model;
  model.parameters = 10, model.nonzero_parameters = 5;
  Samples trial;
  trial.executed = {{"parameters", "10"}};
  take_reported_size(model, trial);
  EXPECT_EQ(model.nonzero_parameters, 5U);
  trial.executed = {{"parameters", "many"}};
  take_reported_size(model, trial);
  EXPECT_EQ(model.parameters, 10U);
  trial.executed = {{"parameters", "12"}};
  take_reported_size(model, trial);
  EXPECT_EQ(model.parameters, 12U);
  EXPECT_FALSE(model.nonzero_parameters);
}

}  // namespace infermeter::model_facts_test
