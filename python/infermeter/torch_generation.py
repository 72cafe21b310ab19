"""Language models on PyTorch: transformers' generate, token by token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from infermeter.backend import Info, Load, Refused, Status
from infermeter.checks import need, thread_count
from infermeter.generation import OPTIONS, GenerationSession, LanguageModel, ScoringSession, Settings
from infermeter.torch_weights import Weights

_KEYS = {option.key for option in OPTIONS}


def load_language_model(torch: Any, info: Info, load: Load) -> GenerationSession | ScoringSession:
    if others := sorted(load.options.keys() - _KEYS):
        raise Refused(Status.INVALID_ARGUMENT, f"{', '.join(others)}: no option of language models; leave it out")
    if load.profile_folder:
        raise Refused(Status.UNSUPPORTED, "operators of language models are not profiled on PyTorch: profile another model")
    need("transformers", "a language model on PyTorch", setup="generation")
    settings = Settings.read(info, load)
    model = LanguageModel.read(load.model, load.zoo_name)
    settings.check(model)
    engine = TransformersEngine(torch, load, model, settings)
    return ScoringSession(engine, model, settings) if settings.scores else GenerationSession(engine, model, settings)


def refuse_options_of_language_models(load: Load) -> None:
    if keys := sorted(load.options.keys() & _KEYS):
        raise Refused(Status.INVALID_ARGUMENT, f"{', '.join(keys)}: of language models only, and {load.model} is none; leave it out")


class TransformersEngine:
    def __init__(self, torch: Any, load: Load, model: LanguageModel, settings: Settings) -> None:
        import transformers

        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        self._torch, self._transformers, self._device = torch, transformers, load.device
        torch.set_num_threads(thread_count(load))
        self._model = self._read(load, model).to(load.device).eval()
        self._force_length = settings.force_length
        self.limit(settings.output_tokens)
        # What a model's own settings say of sampling is not asked, nor of penalties, which change greedy answers as well.
        self._model.generation_config = transformers.GenerationConfig(
            eos_token_id=list(model.ends) or None, pad_token_id=model.ends[0] if model.ends else 0)

    def _read(self, load: Load, model: LanguageModel) -> Any:
        try:
            return self._transformers.AutoModelForCausalLM.from_pretrained(
                model.folder, dtype=getattr(self._torch, load.dtype), local_files_only=True, trust_remote_code=False,
                use_safetensors=True,
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            message = " ".join(str(error).split())[:400]
            raise Refused(Status.MODEL_ERROR, f"transformers cannot read {model.name}: {type(error).__name__}: {message}") from error

    def limit(self, output_tokens: int) -> None:
        self._limits = {"max_new_tokens": output_tokens, "min_new_tokens": output_tokens if self._force_length else 0}

    def generate(self, prompt: np.ndarray, stamp: Callable[[Sequence[int]], None]) -> None:
        torch = self._torch
        tokens = torch.from_numpy(np.array(prompt)).to(self._device)
        with torch.inference_mode():
            self._model.generate(
                tokens, attention_mask=torch.ones_like(tokens), do_sample=False, num_beams=1, use_cache=True, streamer=_Streamer(stamp),
                **self._limits,
            )

    def logits(self, text: np.ndarray) -> np.ndarray:
        torch = self._torch
        with torch.inference_mode():
            scores = self._model(torch.from_numpy(np.array(text)).to(self._device), use_cache=False).logits[0]
        logits: np.ndarray = scores.float().cpu().numpy()
        return logits

    def executed(self) -> dict[str, str]:
        weights = Weights.of(self._torch, self._model)
        dtype = weights.most_are
        return {
            "dtype": dtype,
            "device": self._device,
            "provider": f"transformers {self._transformers.__version__}",
            "threads": str(self._torch.get_num_threads()),
            "attention": str(self._model.config._attn_implementation),
            "kv_cache": {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}.get(dtype, dtype),
            "prefix_caching": "false",
            "parameters": str(weights.count),
            "model_bytes": str(weights.size_bytes),
        }


class _Streamer:
    """transformers shows the prompt first, and then each token, when it has left the device."""

    def __init__(self, stamp: Callable[[Sequence[int]], None]) -> None:
        self._stamp, self._is_prompt = stamp, True

    def put(self, value: Any) -> None:
        if not self._is_prompt:
            self._stamp(value.reshape(-1).tolist())
        self._is_prompt = False

    def end(self) -> None:
        pass
