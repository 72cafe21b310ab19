"""A model for MLServer: two inputs, two outputs, numbers that a test can work out."""

import numpy as np
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse, MetadataTensor


class ServedModel(MLModel):
    async def load(self) -> bool:
        self._settings.inputs = [MetadataTensor(name="x", datatype="FP32", shape=[-1, 4]),
                                 MetadataTensor(name="k", datatype="INT64", shape=[-1, 1])]
        self._settings.outputs = [MetadataTensor(name="sum", datatype="FP32", shape=[-1, 1]),
                                  MetadataTensor(name="scaled", datatype="FP32", shape=[-1, 4])]
        return True

    async def predict(self, payload):
        arrays = {each.name: NumpyCodec.decode_input(each) for each in payload.inputs}
        x, k = arrays["x"].astype(np.float32), arrays["k"].astype(np.float32)
        outputs = {"sum": x.sum(axis=1, keepdims=True), "scaled": x * k}
        return InferenceResponse(model_name=self.name, model_version=self.version,
                                 outputs=[NumpyCodec.encode_output(name, value) for name, value in outputs.items()])
