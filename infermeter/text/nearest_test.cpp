#include "infermeter/text/nearest.hpp"

#include <gtest/gtest.h>

namespace infermeter::nearest_test {
namespace {

const std::vector<std::string> zoo_names = {"resnet50", "vit_b_16", "mobilenet_v3_small", "unet2d", "unet3d", "mlp"};

TEST(NearestName, FindsWhatWasMeant) {
  EXPECT_EQ(nearest_name("resnet51", zoo_names), "resnet50");
  EXPECT_EQ(nearest_name("vit-b-16", zoo_names), "vit_b_16");
  EXPECT_EQ(nearest_name("mobilenetv3small", zoo_names), "mobilenet_v3_small");
  EXPECT_EQ(nearest_name("mpl", zoo_names), "mlp");  // one swap, where two replacements would be too far
}

TEST(NearestName, CaseDoesNotCount) { EXPECT_EQ(nearest_name("ResNet50", {"x", "resnet50"}), "resnet50"); }

TEST(NearestName, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("bert", zoo_names), std::nullopt);
  EXPECT_EQ(nearest_name("", zoo_names), std::nullopt);
  EXPECT_EQ(nearest_name("mlp", {}), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(65, 'a'), {std::string(64, 'a')}), std::nullopt);
}

TEST(NearestName, TheFirstWinsATie) {
  EXPECT_EQ(nearest_name("unet4d", zoo_names), "unet2d");
  EXPECT_EQ(nearest_name("unet4d", {"unet3d", "unet2d"}), "unet3d");
}

TEST(NearestName, ALimitOfAThird) {
  EXPECT_EQ(nearest_name("abcdxx", {"abcdef"}), "abcdef");
  EXPECT_EQ(nearest_name("abcxxx", {"abcdef"}), std::nullopt);
}

}  // namespace
}  // namespace infermeter::nearest_test
