"""Language models on ONNX Runtime GenAI, from a folder with its form of the model (genai_config.json)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from infermeter.backend import Environment, Info, Load, Refused, Status
from infermeter.checks import framework, refuse_what_is_not_offered, thread_count
from infermeter.generation import FORMAT, OPTIONS, GenerationSession, LanguageModel, ScoringSession, Settings, read_json

_CONFIG = "genai_config.json"


def open_runtime(environment: Environment) -> Runtime:
    genai = framework(environment, "onnxruntime_genai", "ONNX Runtime GenAI", setup="generation", pip="onnxruntime-genai")
    return Runtime(genai)


class Runtime:
    def __init__(self, genai: Any) -> None:
        self._genai = genai
        self.info = Info(
            name="onnxruntime-genai",
            runtime_name="ONNX Runtime GenAI",
            runtime_version=genai.__version__,
            library=str(Path(genai.__file__).parent),
            model_formats=(FORMAT,),
            devices=("cpu",),
            dtypes=("float32",),
            options=OPTIONS,
        )

    def load(self, load: Load) -> GenerationSession | ScoringSession:
        refuse_what_is_not_offered(self.info, load)
        if load.profile_folder:
            raise Refused(
                Status.UNSUPPORTED, "ONNX Runtime GenAI shows nothing of single operators: profile the model on another back end"
            )
        settings = Settings.read(self.info, load)
        model = LanguageModel.read(load.model, load.zoo_name)
        settings.check(model)
        if not (model.folder / _CONFIG).exists():
            raise Refused(
                Status.MODEL_ERROR,
                f"{model.name} has no {_CONFIG}: ONNX Runtime GenAI reads models that were made for it (its "
                "onnxruntime_genai.models.builder), and the zoo's",
            )
        engine = GeneratorEngine(self._genai, load, model, settings)
        return ScoringSession(engine, model, settings) if settings.scores else GenerationSession(engine, model, settings)


class GeneratorEngine:
    def __init__(self, genai: Any, load: Load, model: LanguageModel, settings: Settings) -> None:
        self._genai = genai
        self._threads = thread_count(load)
        self._output_tokens, self._force_length = settings.output_tokens, settings.force_length
        config = genai.Config(str(model.folder))
        config.clear_providers()  # the CPU's is always there
        session = {"intra_op_num_threads": self._threads, "inter_op_num_threads": 1}
        config.overlay(json.dumps({"model": {"decoder": {"session_options": session}}}))
        self._model = genai.Model(config)
        self._dtype = self._type_of_cache(read_json(model.folder / _CONFIG))

    def _type_of_cache(self, config: dict[str, Any]) -> str:
        """Of keys and values, which is what is computed in: only a generator that has begun shows it."""
        generator = self._generator(2, 0)
        generator.append_tokens(np.zeros(1, np.int32))
        name = config["model"]["decoder"]["inputs"].get("past_key_names", "past_key_values.%d.key") % 0
        return str(generator.get_input(name).dtype)

    def _generator(self, tokens: int, least: int) -> Any:
        parameters = self._genai.GeneratorParams(self._model)
        # Penalties of the folder would change greedy answers as well.
        parameters.set_search_options(
            do_sample=False, num_beams=1, batch_size=1, max_length=tokens, min_length=least, repetition_penalty=1.0, no_repeat_ngram_size=0)
        return self._genai.Generator(self._model, parameters)

    def limit(self, output_tokens: int) -> None:
        self._output_tokens = output_tokens

    def generate(self, prompt: np.ndarray, stamp: Callable[[Sequence[int]], None]) -> None:
        most = prompt.shape[1] + self._output_tokens
        generator = self._generator(most, most if self._force_length else 0)
        generator.append_tokens(prompt[0].astype(np.int32))
        while not generator.is_done():
            generator.generate_next_token()
            stamp([int(generator.get_next_tokens()[0])])

    def logits(self, text: np.ndarray) -> np.ndarray:
        generator = self._generator(text.shape[1], 0)
        generator.append_tokens(text[0].astype(np.int32))
        logits: np.ndarray = generator.get_output("logits")[0].astype(np.float32)
        return logits

    def executed(self) -> dict[str, str]:
        # What is loaded shows no more than its device: threads are what it was given.
        return {
            "dtype": self._dtype,
            "dtype_from": "model",
            "device": "cpu",
            "provider": "CPUExecutionProvider",
            "threads": str(self._threads),
            "kv_cache": {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}.get(self._dtype, self._dtype),
            "prefix_caching": "false",
        }
