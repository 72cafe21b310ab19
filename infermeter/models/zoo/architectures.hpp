// The architectures of the zoo, layer by layer. Names of weights are those of torchvision's state_dict where it has the
// model; their layout too, but for the matrices of the ViT's encoder: MatMul wants those as [in, out], the transpose of
// torch's.
#pragma once

#include "infermeter/models/onnx/graph.hpp"

namespace infermeter {

[[nodiscard]] Graph make_mlp();
[[nodiscard]] Graph make_resnet50();  // v1.5: the stride is in the 3×3 convolution
[[nodiscard]] Graph make_mobilenet_v3_small();
[[nodiscard]] Graph make_vit_b_16();
[[nodiscard]] Graph make_unet2d();
[[nodiscard]] Graph make_unet3d();

}  // namespace infermeter
