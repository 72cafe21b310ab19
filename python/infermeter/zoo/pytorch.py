"""The zoo in PyTorch: torchvision's definitions, and its small models written out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import nn

TORCHVISION = ("resnet50", "vit_b_16", "mobilenet_v3_small")


def build(name: str, weights: Mapping[str, np.ndarray]) -> nn.Module:
    """The model with exactly these weights, ready for inference."""
    # On the meta device nothing is drawn at random only to be thrown away, and nobody's random state moves.
    with torch.device("meta"):
        module = _architecture(name)
    state = {key: torch.from_numpy(array) for key, array in weights.items()}
    # Batch normalisation counts the batches that it was trained on; inference does not look at it.
    for key in module.state_dict():
        if key.endswith("num_batches_tracked"):
            state[key] = torch.zeros((), dtype=torch.int64)
    module.load_state_dict(state, strict=True, assign=True)
    return module.eval()


def names() -> tuple[str, ...]:
    return (*TORCHVISION, *_OWN)


def _architecture(name: str) -> nn.Module:
    if name in _OWN:
        return _OWN[name]()
    from torchvision import models

    return models.get_model(name, weights=None)


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(16, 64)
        self.fc2 = nn.Linear(64, 32)
        self.fc3 = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


class TwoConvolutions(nn.Module):
    def __init__(self, rank: int, inputs: int, outputs: int) -> None:
        super().__init__()
        convolution = nn.Conv2d if rank == 2 else nn.Conv3d
        normalisation = nn.BatchNorm2d if rank == 2 else nn.BatchNorm3d
        self.conv1 = convolution(inputs, outputs, 3, padding=1, bias=False)
        self.bn1 = normalisation(outputs)
        self.conv2 = convolution(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = normalisation(outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(x)))


class Up(TwoConvolutions):
    """From one level to the finer one above it, which has `channels`."""

    def __init__(self, rank: int, channels: int) -> None:
        super().__init__(rank, 2 * channels, channels)
        transposed = nn.ConvTranspose2d if rank == 2 else nn.ConvTranspose3d
        self.up = transposed(2 * channels, channels, 2, stride=2)

    def forward(self, x: torch.Tensor, skip: torch.Tensor) -> torch.Tensor:  # type: ignore[override]  # takes two
        return super().forward(torch.cat([skip, self.up(x)], dim=1))


class UNet(nn.Module):
    def __init__(self, rank: int, width: int, levels: int) -> None:
        super().__init__()
        channels = [width << level for level in range(levels)]
        inputs = [1, *channels[:-1]]
        self.encoder = nn.ModuleList(TwoConvolutions(rank, i, o) for i, o in zip(inputs, channels, strict=True))
        self.decoder = nn.ModuleList(Up(rank, c) for c in channels[:-1])
        self.pool = nn.MaxPool2d(2) if rank == 2 else nn.MaxPool3d(2)
        self.head = (nn.Conv2d if rank == 2 else nn.Conv3d)(width, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skips = []
        for level, block in enumerate(self.encoder):
            x = block(self.pool(x) if level > 0 else x)
            skips.append(x)
        for level in reversed(range(len(self.decoder))):
            x = self.decoder[level](x, skips[level])
        return self.head(x)


_OWN: dict[str, Callable[[], nn.Module]] = {
    "mlp": Mlp,
    "unet2d": lambda: UNet(rank=2, width=16, levels=5),
    "unet3d": lambda: UNet(rank=3, width=8, levels=4),
}
