"""The names of earlier tools, on the one engine; docs/coming-from.md has their lines beside ours.

    performance_benchmarker  PerformanceBenchmarker, BenchmarkResult, ComparisonResult, create_benchmarker
    framework_runner         BenchmarkConfig, run_inference_benchmark, run_benchmark_suite, BenchmarkLogger, create_dataloader
    model_benchmark          ModelBenchmark, BenchmarkSuite, quick_benchmark
    accuracy_validation      AccuracyValidator, OutputComparator, validate_optimization
    torch_settings           setup_gpu_optimizations, reset_memory_stats

All of them are names of `infermeter` itself: from infermeter import ModelBenchmark.
"""
