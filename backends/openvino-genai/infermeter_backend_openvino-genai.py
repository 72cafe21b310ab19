"""Language models on OpenVINO GenAI, from a folder with OpenVINO's form of the model (openvino_model.xml)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from infermeter.backend import Environment, Info, Load, Option, Refused, Status
from infermeter.checks import flag, framework, refuse_what_is_not_offered, thread_count
from infermeter.generation import FORMAT, OPTIONS, GenerationSession, LanguageModel, ScoringSession, Settings, choice
from infermeter.making import silence_openvino

_GRAPH = "openvino_model.xml"
_KV_CACHE = ("f32", "f16", "bf16", "u8")
_ATTENTION = {"paged": "PA", "sdpa": "SDPA"}
_INPUTS = {"input_ids", "attention_mask", "position_ids", "beam_idx"}
_OWN_OPTIONS = (
    Option("kv_cache", "|".join(_KV_CACHE), "precision of the keys and values that are kept; default f32"),
    Option("attention", "|".join(_ATTENTION), "paged attention with continuous batching, or the plain pipeline; default paged"),
    Option("prefix_caching", "true|false", "answers from what was computed of the same beginning before; default false"),
)


def open_runtime(environment: Environment) -> Runtime:
    silence_openvino()
    genai = framework(environment, "openvino_genai", "OpenVINO GenAI", setup="generation", pip="openvino-genai")
    return Runtime(genai)


class Runtime:
    def __init__(self, genai: Any) -> None:
        self._genai = genai
        self.info = Info(
            name="openvino-genai",
            runtime_name="OpenVINO GenAI",
            runtime_version=genai.__version__,
            library=str(Path(genai.__file__).parent),
            model_formats=(FORMAT,),
            devices=("cpu",),
            dtypes=("float32", "bfloat16"),
            options=(*OPTIONS, *_OWN_OPTIONS),
        )

    def load(self, load: Load) -> GenerationSession | ScoringSession:
        refuse_what_is_not_offered(self.info, load)
        if load.profile_folder:
            raise Refused(Status.UNSUPPORTED, "OpenVINO GenAI shows nothing of single operators: profile the model on another back end")
        settings = Settings.read(self.info, load)
        model = LanguageModel.read(load.model, load.zoo_name)
        settings.check(model)
        if not (model.folder / _GRAPH).exists():
            raise Refused(
                Status.MODEL_ERROR,
                f"{model.name} has no openvino_model.xml: OpenVINO GenAI reads models that were exported for it "
                "(optimum-cli export openvino), and the zoo's",
            )
        if settings.scores:
            return ScoringSession(GraphScorer(load, model), model, settings)
        return GenerationSession(PipelineEngine(self._genai, self.info, load, model, settings), model, settings)


class PipelineEngine:
    def __init__(self, genai: Any, info: Info, load: Load, model: LanguageModel, settings: Settings) -> None:
        import openvino

        self._tensor = openvino.Tensor
        self._streamer = _streamer_class(genai)
        self._kv_cache = choice(info, load, "kv_cache", _KV_CACHE)
        self._attention = choice(info, load, "attention", tuple(_ATTENTION))
        self._prefix_caching = flag(info, load, "prefix_caching", False)
        self._dtype = load.dtype
        self._threads = thread_count(load)
        properties = _properties(load, self._kv_cache) | {
            "ATTENTION_BACKEND": _ATTENTION[self._attention],
        }
        if self._attention == "paged":
            scheduler = genai.SchedulerConfig()
            scheduler.enable_prefix_caching = self._prefix_caching
            properties["scheduler_config"] = scheduler
        elif self._prefix_caching:
            raise Refused(Status.INVALID_ARGUMENT, "prefix_caching=true needs attention=paged")
        # The folder's tokenizer is not used: prompts are tokens, and so are answers.
        self._pipeline = genai.LLMPipeline(str(model.folder), "CPU", **properties)
        config = genai.GenerationConfig()
        config.do_sample = False
        config.ignore_eos = settings.force_length
        config.eos_token_id = model.ends[0] if model.ends else -1
        config.stop_token_ids = set(model.ends)
        self._config, self._force_length = config, settings.force_length
        self.limit(settings.output_tokens)

    def limit(self, output_tokens: int) -> None:
        self._config.max_new_tokens = output_tokens
        if self._force_length:
            self._config.min_new_tokens = output_tokens

    def generate(self, prompt: np.ndarray, stamp: Callable[[Sequence[int]], None]) -> None:
        self._pipeline.generate(self._tensor(prompt), self._config, self._streamer(stamp))

    def executed(self) -> dict[str, str]:
        # The pipeline reports no property of the model that it has compiled: these are what it was given.
        return {
            "dtype": self._dtype,
            "device": "cpu",
            "provider": "CPU",
            "threads": str(self._threads),
            "attention": self._attention,
            "kv_cache": self._kv_cache,
            "prefix_caching": "true" if self._prefix_caching else "false",
        }


class GraphScorer:
    """The pipeline gives no logits. What it runs is this graph, which the plain runtime runs as well, with its own attention."""

    def __init__(self, load: Load, model: LanguageModel) -> None:
        import openvino

        if load.options.keys() & {"attention", "prefix_caching", "kv_cache"}:
            raise Refused(
                Status.INVALID_ARGUMENT,
                "attention, prefix_caching and kv_cache are of answers: a text is read at once, with output=logits; leave them out",
            )
        compiled = openvino.Core().compile_model(str(model.folder / _GRAPH), "CPU", _properties(load, "f32"))
        self._dtype = str(compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name())
        self._threads = int(compiled.get_property("INFERENCE_NUM_THREADS"))
        self._names = [port.any_name for port in compiled.inputs]
        if not {"input_ids"} <= set(self._names) <= _INPUTS:
            raise Refused(Status.MODEL_ERROR, f"{_GRAPH} of {model.name} has the inputs {', '.join(self._names)}: no text can be scored")
        self._request = compiled.create_infer_request()

    def logits(self, text: np.ndarray) -> np.ndarray:
        values = {
            "input_ids": text,
            "attention_mask": np.ones_like(text),
            "position_ids": np.arange(text.shape[1], dtype=np.int64)[None],
            "beam_idx": np.zeros(1, np.int32),
        }
        self._request.reset_state()
        self._request.infer({name: values[name] for name in self._names})
        logits: np.ndarray = self._request.get_tensor("logits").data[0].copy()
        return logits

    def executed(self) -> dict[str, str]:
        return {
            "dtype": {"f32": "float32", "bf16": "bfloat16"}.get(self._dtype, self._dtype),
            "device": "cpu",
            "provider": "CPU",
            "threads": str(self._threads),
            "attention": "sdpa",
        }


def _properties(load: Load, kv_cache: str) -> dict[str, Any]:
    return {
        "INFERENCE_PRECISION_HINT": {"float32": "f32", "bfloat16": "bf16"}[load.dtype],
        "INFERENCE_NUM_THREADS": thread_count(load),
        "KV_CACHE_PRECISION": kv_cache,
    }


def _streamer_class(genai: Any) -> type:
    running = genai.StreamingStatus.RUNNING

    class Streamer(genai.StreamerBase):  # type: ignore[misc]
        def __init__(self, stamp: Callable[[Sequence[int]], None]) -> None:
            super().__init__()
            self._stamp = stamp

        def write(self, token: int | list[int]) -> Any:
            self._stamp([token] if isinstance(token, int) else token)
            return running

        def end(self) -> None:
            pass

    return Streamer

