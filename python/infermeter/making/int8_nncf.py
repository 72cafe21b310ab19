"""int8 weights and activations with ranges from data, by NNCF, as an OpenVINO IR."""

from __future__ import annotations

from infermeter.making import Job, calibration_items, need_packages, silence_openvino


def make(job: Job) -> None:
    need_packages("quantising with NNCF", "openvino", "nncf")
    silence_openvino()
    import nncf
    import openvino

    model = openvino.Core().read_model(job.model)
    items = list(calibration_items(job))
    kinds = {operator.get_type_name() for operator in model.get_ops()}
    # Attention loses much when it is quantised like a convolution.
    is_transformer = {"MatMul", "Softmax", "MVN"} <= kinds
    quantised = nncf.quantize(
        model,
        nncf.Dataset(items),
        subset_size=len(items),
        model_type=nncf.ModelType.TRANSFORMER if is_transformer else None,
    )
    openvino.save_model(quantised, job.file, compress_to_fp16=False)
