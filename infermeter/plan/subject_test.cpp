#include "infermeter/plan/subject.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

namespace infermeter::subject_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Subject parsed(std::string_view text, const Subject& defaults = {}) {
  auto subject = subject_from_string(text, defaults);
  EXPECT_TRUE(subject.ok()) << (subject.ok() ? "" : subject.error().message);
  return subject ? *subject : Subject{};
}

std::string error_of(std::string_view text) {
  const auto subject = subject_from_string(text, {});
  return subject ? "no error" : subject.error().message;
}

std::vector<std::string> labels(std::vector<Subject> subjects) {
  label_subjects(subjects);
  std::vector<std::string> result;
  for (const Subject& s : subjects) result.push_back(s.label);
  return result;
}

TEST(SubjectFromString, TakesOurKeysAndHandsTheOthersOn) {
  const Subject s =
      parsed("resnet50@openvino,threads=1,batch=4,dtype=bfloat16,device=cpu,library=/x/y.so,dim.h=512,hint=none");
  EXPECT_EQ(s.model, "resnet50");
  EXPECT_EQ(s.backend, "openvino");
  EXPECT_EQ(s.threads, 1);
  EXPECT_EQ(s.batch_size, 4);
  EXPECT_EQ(s.dtype, Precision::bfloat16);
  EXPECT_EQ(s.device, "cpu");
  EXPECT_EQ(s.backend_library, "/x/y.so");
  EXPECT_THAT(s.dimensions, ElementsAre(Pair("h", "512")));
  EXPECT_THAT(s.options, ElementsAre(Pair("hint", "none")));
}

TEST(SubjectFromString, TakesEnvironmentVariables) {
  const Subject defaults{.environment = {{"A", "1"}, {"B", "2"}}};
  const Subject s = parsed("mlp@fake,env.B=3,env.C=x", defaults);
  EXPECT_THAT(s.environment, ElementsAre(Pair("A", "1"), Pair("B", "3"), Pair("C", "x")));
  EXPECT_EQ(s.label, "mlp@fake,env.A=1,env.B=3,env.C=x");
}

TEST(SubjectFromString, DefaultsGiveWhatTheTextDoesNotSay) {
  const Subject defaults{.device = "cuda", .batch_size = 8, .options = {{"a", "1"}, {"b", "2"}}};
  const Subject s = parsed("m@fake,b=3", defaults);
  EXPECT_EQ(s.device, "cuda");
  EXPECT_EQ(s.batch_size, 8);
  EXPECT_THAT(s.options, ElementsAre(Pair("a", "1"), Pair("b", "3")));
}

TEST(SubjectFromString, PathsMayHoldEverySeparator) {
  EXPECT_EQ(parsed("/a=b/c@d,e/m.onnx@fake").model, "/a=b/c@d,e/m.onnx");
  EXPECT_EQ(parsed("./x=y.onnx@fake").model, "./x=y.onnx");
  EXPECT_EQ(parsed("new=/a=b@c/m.onnx@fake").label, "new");
  EXPECT_EQ(parsed("new=/a=b@c/m.onnx@fake").model, "/a=b@c/m.onnx");
  // The '@' of a value is not followed by a back end's name and a ','.
  const Subject s = parsed("m@fake,library=/opt/x@1/y.so");
  EXPECT_EQ(s.backend, "fake");
  EXPECT_EQ(s.backend_library, "/opt/x@1/y.so");
}

TEST(SubjectFromString, AModelMayBeCode) {
  EXPECT_EQ(parsed("pkg.mod:make@pytorch").model, "pkg.mod:make");
  EXPECT_EQ(parsed("pkg.mod:make@pytorch").backend, "pytorch");
  const Subject s = parsed("new=./a b/models.py:make@pytorch,batch=2,input_shape=1x3x8x8;2x8:int64");
  EXPECT_EQ(s.label, "new");
  EXPECT_EQ(s.model, "./a b/models.py:make");
  EXPECT_EQ(s.batch_size, 2);
  EXPECT_THAT(s.options, ElementsAre(Pair("input_shape", "1x3x8x8;2x8:int64")));
}

TEST(Factory, IsAModuleOrAPythonFileAndAName) {
  const auto module = factory_from_string("pkg.mod_2:make");
  ASSERT_TRUE(module.has_value());
  EXPECT_EQ(module->source, "pkg.mod_2");
  EXPECT_EQ(module->name, "make");
  EXPECT_FALSE(module->is_file);
  const auto file = factory_from_string("/a:b/ö c/models.py:_make");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->source, "/a:b/ö c/models.py");
  EXPECT_EQ(file->name, "_make");
  EXPECT_TRUE(file->is_file);
  for (const char* text :
       {"",     ":",    "m:",    ":f",    "m",     "models.py", "m.onnx", "a.:f",    ".a:f",  "a..b:f", "a-b:f",
        "1a:f", "m:1f", "m:f.g", "m:f g", "./m:f", "a/b:f",     ".py:f",  "a/.py:f", "m:f\n", "mö:f",   "a:b:f"}) {
    EXPECT_FALSE(is_factory(text)) << text;
  }
}

TEST(SubjectFromString, SaysWhatIsWrong) {
  EXPECT_THAT(error_of("resnet50"), HasSubstr("write MODEL@BACKEND, for example resnet50@onnxruntime"));
  EXPECT_THAT(error_of(""), HasSubstr("has no back end"));
  EXPECT_THAT(error_of("@fake"), HasSubstr("has no model"));
  EXPECT_THAT(error_of("a=@fake"), HasSubstr("has no model"));
  EXPECT_THAT(error_of("m@"), HasSubstr("has no back end"));
  EXPECT_THAT(error_of("m@fake,threads"), HasSubstr("expected key=value after the back end, got 'threads'"));
  EXPECT_THAT(error_of("m@fake,=1"), HasSubstr("expected key=value"));
  EXPECT_THAT(error_of("m@fake,batch=0"), HasSubstr("batch: expected a whole number from 1 to 1000000, got '0'"));
  EXPECT_THAT(error_of("m@fake,threads=-1"), HasSubstr("threads: expected a whole number from 0"));
  EXPECT_THAT(error_of("m@fake,dtype=flaot16"), HasSubstr("unknown dtype 'flaot16' (did you mean 'float16'?)"));
  EXPECT_THAT(error_of("m@fake,batch=1,batch=2"), HasSubstr("batch is given twice"));
}

TEST(SubjectFromString, ItsShortFormReadsBackTheSame) {
  EXPECT_TRUE(rc::check([] {
    const auto word = [] { return *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'z'))); };
    Subject s;
    s.model = (*rc::gen::element<std::string>("", "/a=b/", "x@y/", "p,q/")) + word();
    s.backend = word();
    s.device = *rc::gen::element<std::string>("auto", "cpu", "cuda");
    s.dtype = *rc::gen::element(Precision::float32, Precision::float16, Precision::bfloat16);
    s.batch_size = *rc::gen::inRange(1, 1000);
    s.threads = *rc::gen::inRange(0, 64);
    if (*rc::gen::arbitrary<bool>()) s.dimensions = {{word(), std::to_string(*rc::gen::inRange(1, 999))}};
    if (*rc::gen::arbitrary<bool>()) s.options = {{"o_" + word(), word()}};
    const Subject back = parsed("x=" + short_form(s));
    RC_ASSERT(short_form(back) == short_form(s));
    RC_ASSERT(back.model == s.model && back.backend == s.backend && back.options == s.options);
    RC_ASSERT(back.label == "x");
  }));
}

TEST(SubjectFromString, NeverCrashesOnAnything) {
  EXPECT_TRUE(rc::check([](const std::string& text) { (void)subject_from_string(text, {}); }));
  EXPECT_TRUE(rc::check([] {
    const auto text = *rc::gen::container<std::string>(rc::gen::element('a', '@', ',', '=', '.', '\0', '/'));
    const auto subject = subject_from_string(text, {});
    if (subject) RC_ASSERT(!subject->model.empty() && !subject->backend.empty());
  }));
}

TEST(Expand, MultipliesWithTheBackEndFastestAndGroupsByModelAndBatchSize) {
  const auto subjects = expand({.models = {"a", "b"}, .backends = {"x", "y"}, .batch_sizes = {1, 4}});
  ASSERT_EQ(subjects.size(), 8U);
  EXPECT_EQ(subjects[1].backend, "y");
  EXPECT_EQ(subjects[1].group, subjects[0].group);
  EXPECT_EQ(subjects[2].batch_size, 4);
  EXPECT_NE(subjects[2].group, subjects[0].group);
  EXPECT_EQ(subjects[4].model, "b");
  EXPECT_EQ(subjects[7].group, 3);
}

TEST(LabelSubjects, SaysOnlyWhatDiffers) {
  EXPECT_THAT(labels({{.model = "m", .backend = "x"}, {.model = "m", .backend = "y"}}), ElementsAre("m@x", "m@y"));
  EXPECT_THAT(labels({{.model = "m", .backend = "x", .batch_size = 4, .threads = 2},
                      {.model = "m", .backend = "x", .batch_size = 8, .threads = 2}}),
              ElementsAre("m@x,batch=4", "m@x,batch=8"));
  EXPECT_THAT(labels({{.model = "m", .backend = "x", .options = {{"k", "1"}, {"same", "s"}}},
                      {.model = "m", .backend = "x", .options = {{"same", "s"}}},
                      {.model = "m", .backend = "y"}}),
              ElementsAre("m@x,k=1", "m@x", "m@y"));
}

TEST(LabelSubjects, ShortensPathsWhereThatIsEnough) {
  EXPECT_THAT(labels({{.model = "/a/m.onnx", .backend = "x"}, {.model = "/a/n.onnx", .backend = "x"}}),
              ElementsAre("m.onnx@x", "n.onnx@x"));
  EXPECT_THAT(labels({{.model = "/a/m.onnx", .backend = "x"}, {.model = "/b/m.onnx", .backend = "x"}}),
              ElementsAre("/a/m.onnx@x", "/b/m.onnx@x"));
  EXPECT_THAT(labels({{.model = "/a/models.py:make", .backend = "x"}, {.model = "/a/models.py:other", .backend = "x"}}),
              ElementsAre("models.py:make@x", "models.py:other@x"));
  EXPECT_THAT(
      labels({{.model = "/a/small/config.json", .backend = "x"}, {.model = "b/large/config.json", .backend = "x"}}),
      ElementsAre("small@x", "large@x"));  // folders of language models
  EXPECT_THAT(labels({{.model = "config.json", .backend = "x"}, {.model = "/config.json", .backend = "y"}}),
              ElementsAre("config.json@x", "/config.json@y"));
  EXPECT_THAT(labels({{.model = "m", .backend = "x", .backend_library = "/old/l.so.1"},
                      {.model = "m", .backend = "x", .backend_library = "/new/l.so.2"}}),
              ElementsAre("m@x,library=l.so.1", "m@x,library=l.so.2"));
  EXPECT_THAT(labels({{.model = "m", .backend = "x", .backend_library = "/old/l.so"},
                      {.model = "m", .backend = "x", .backend_library = "/new/l.so"}}),
              ElementsAre("m@x,library=/old/l.so", "m@x,library=/new/l.so"));
}

TEST(LabelSubjects, KeepsChosenLabelsAndCountsCopies) {
  EXPECT_THAT(labels({{.label = "m@x", .model = "other", .backend = "y"},
                      {.model = "m", .backend = "x"},
                      {.model = "m", .backend = "x"}}),
              ElementsAre("m@x", "m@x#2", "m@x#3"));
}

TEST(LabelSubjects, AreUniqueForAnyPlan) {
  EXPECT_TRUE(rc::check([] {
    std::vector<Subject> subjects(static_cast<std::size_t>(*rc::gen::inRange(1, 12)));
    for (Subject& s : subjects) {
      s.model = *rc::gen::element<std::string>("m", "/a/m", "/b/m");
      s.backend = *rc::gen::element<std::string>("x", "y");
      s.batch_size = *rc::gen::inRange(1, 3);
      if (*rc::gen::arbitrary<bool>()) s.options = {{"k", *rc::gen::element<std::string>("1", "2")}};
    }
    const auto all = labels(subjects);
    RC_ASSERT(std::set<std::string>(all.begin(), all.end()).size() == all.size());
  }));
}

}  // namespace
}  // namespace infermeter::subject_test
