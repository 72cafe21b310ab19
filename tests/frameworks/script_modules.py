"""Modules that tests of the libtorch back end make programs of."""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.linear = torch.nn.Linear(8, 10)

    def forward(self, image):
        return self.linear(torch.relu(self.norm(self.convolution(image))).mean((2, 3)))


class Nested(torch.nn.Module):
    def forward(self, x):
        return x + 1, (x * 2, [x.sum(), x > 0])


class Named(torch.nn.Module):
    def forward(self, x, ids, scale: float = 2.0, mask: torch.Tensor | None = None):
        return {"scaled": x * scale if mask is None else x * mask, "next": ids + 1}


class WantsNumber(torch.nn.Module):
    def forward(self, x, n: int):
        return x * n


class GivesNumber(torch.nn.Module):
    def forward(self, x):
        return x.size(0)


class WritesIntoItsInput(torch.nn.Module):
    def forward(self, x):
        return x.add_(1)


class Refuses(torch.nn.Module):
    def forward(self, x):
        if x.size(0) > 0:
            raise ValueError("not with me")
        return x
