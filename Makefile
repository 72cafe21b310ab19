# The commands of a newcomer. One release build serves demo, test, bench and install: tests and benchmarks are added to
# it when they are asked for, and stay.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.SILENT:
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc)
# Twice as many: some tests sleep, and with more of them no processor is idle; three times as many take longer, each with its own
# imports and its own common preparations.
PYTEST_JOBS ?= $(shell echo $$(($(JOBS) * 2)))
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
DESTDIR ?=
release := build/release
# ninja's one line of progress on a terminal; elsewhere nothing unless something fails.
quiet := $(if $(MAKE_TERMOUT),,-- --quiet)
export ORT_DISABLE_TELEMETRY := 1
# Benchmarks are added to a build when they are asked for, and stay.
for_tests = -DINFERMETER_TESTS=ON $(if $(wildcard $(release)/build.ninja),,-DINFERMETER_BENCHMARKS=OFF)

.PHONY: help demo demo-frameworks build test test-units test-threads test-faults fuzz test-arm64 test-frameworks lint format bench bench-verdicts study install docs release release-check clean

help:
	echo "make demo             set up, build, and measure two models on two runtimes (results/)"
	echo "make demo-frameworks  the same for PyTorch, JAX and LiteRT beside them (installs 6.5 GB)"
	echo "make build            set up and build the release in $(release) (4 min on 2 processors the first time)"
	echo "make test             set up, build and run every test (half an hour); those of a framework that is not installed are skipped"
	echo "make test-units       the unit tests alone, with address and undefined-behaviour sanitizers (7 min the first time)"
	echo "make test-threads     unit tests of what has several threads, with the thread sanitizer (3 min the first time)"
	echo "make test-faults      break runs off at every sync and write, fill the disk, let memory run out: 3000 times (hours)"
	echo "make fuzz             feed the readers of files from outside, $(FUZZ_SECONDS) s each (libFuzzer; builds with clang first)"
	echo "make test-arm64       cross-compile for 64-bit Arm in a fresh Debian, run unit tests under emulation (as root; up to an hour)"
	echo "make test-frameworks  set up PyTorch, JAX and LiteRT (6.5 GB), and run the tests that need them"
	echo "make lint             check the sources: formats, clang-tidy, ruff, mypy, TypeScript, eslint, shellcheck (3 min after the build)"
	echo "make format           bring C++ and imports of Python into their format"
	echo "make bench            set up, run the benchmarks, print one table of ratios"
	echo "make bench-verdicts   count false alarms and misses beside other tools (half an hour; goes on if cut off)"
	echo "make study            set up, simulate what verdicts are worth, write docs/statistics-study.md"
	echo "make install          install the release (PREFIX=$(PREFIX), DESTDIR=)"
	echo "make docs             write the documentation and the API of C++ and Python as pages with a search (build/docs/html)"
	echo "make release          write a release of the last commit into dist/: source, wheels, Debian packages, bill of materials, checksums"
	echo "make release-check    install what is in dist/ in fresh Debian 12 and 13, and measure there (as root)"
	echo "make clean            remove the builds (not .venv, .deps and results)"

demo: build
	scripts/demo

demo-frameworks: export INFERMETER_WITH := pytorch,jax,litert
demo-frameworks: build
	scripts/demo-frameworks

# INFERMETER_WITH=pytorch,jax,litert installs frameworks wherever scripts/setup runs.
build:
	scripts/setup
	$(call configure,release,$(if $(wildcard $(release)/build.ninja),,-DINFERMETER_TESTS=OFF -DINFERMETER_BENCHMARKS=OFF))
	$(call compile,release,product)

# Unit tests run with sanitizers; what crosses folders, and simulations, in the release that users run.
test: test-units
	$(call configure,release,$(for_tests))
	$(call compile,release,cross-tests)
	$(call run_ctest,$(release),-LE unit)
	echo "tests across the folders"
	$(call run_pytest,-n $(PYTEST_JOBS) --dist loadfile --no-loadscope-reorder -m "not alone" tests)
	$(call run_pytest,-n $(JOBS) -m alone $$(grep -rl --include='test_*.py' 'mark\.alone' tests))

test-units:
	scripts/setup --tests
	$(call configure,asan)
	$(call compile,asan,unit-tests)
	$(call run_ctest,build/asan,-L unit)

# Of what has several threads: the worker, the load loop, teams of threads, the decoding of pictures, writers of one store, and waiting that a
# signal ends. Of a sampled worker, most samples lie in the sanitizer's own code; and its shadow memory counts as the worker's.
threaded = LoadLoop.*:LoadQueue.*:Peaks.*:ImageData.*:Patience.*:Postgres.ManyMakeTheStoreAndWriteOneRunAtOnce:StoreFaults.StopsWaitingAtASignal
test-threads:
	scripts/setup --tests
	$(call configure,tsan)
	$(call compile,tsan,$(foreach one,worker store data diagnostics trial,infermeter_$(one)_test))
	export TSAN_OPTIONS=die_after_fork=0
	export GTEST_FILTER='-StackTrial.*:RunTrial.OurOwnSamplesAreNotTheSubjectsMemory'
	$(call run_ctest,build/tsan,-R '^worker$$')
	export GTEST_FILTER='$(threaded):-ImageData.TooManyForMemoryNameTheLimit'
	$(call run_ctest,build/tsan,-R '^(store|data|diagnostics|trial)$$')

# The same tests are in `make test` with a few of each kind.
test-faults:
	scripts/setup --tests
	$(call configure,release,$(for_tests))
	$(call compile,release,product fault_shim)
	FAULTS=long $(call run_pytest,-s tests/faults/test_broken_runs.py)

# What is found is kept in build/fuzz/found; what is new in build/fuzz/corpus.
fuzz:
	scripts/setup --tests
	$(call configure,fuzz)
	$(call compile,fuzz,fuzz)
	scripts/fuzz $(FUZZ_SECONDS)

# In a Debian of its own: the packages of this machine stay as they are.
test-arm64: build
	scripts/cross-arm64

test-frameworks:
	scripts/setup --tests --with pytorch,jax,litert
	$(call configure,release,$(for_tests))
	$(call compile,release,product)
	$(call run_pytest,-n $(PYTEST_JOBS) --dist loadfile --no-loadscope-reorder tests/frameworks tests/python)

# mypy reads the stub of the compiled module. No test runs the benchmarks: here they are at least compiled.
lint:
	scripts/setup --lint
	$(call configure,release,$(for_tests) -DINFERMETER_BENCHMARKS=ON)
	$(call compile,release,product benchmarks)
	scripts/lint

format:
	scripts/setup --lint
	scripts/lint --fix

bench:
	scripts/setup --bench
	$(call configure,release,-DINFERMETER_BENCHMARKS=ON $(if $(wildcard $(release)/build.ninja),,-DINFERMETER_TESTS=OFF))
	$(call compile,release,all)
	.venv/bin/python bench/run

bench-verdicts:
	scripts/setup --bench
	$(call configure,release,-DINFERMETER_BENCHMARKS=ON $(if $(wildcard $(release)/build.ninja),,-DINFERMETER_TESTS=OFF))
	$(call compile,release,product work google_work bare_onnxruntime)
	.venv/bin/python bench/verdicts

study:
	scripts/setup --tests
	$(call configure,release,$(for_tests))
	$(call compile,release,infermeter_simulation)
	$(release)/simulation/infermeter_simulation >build/statistics-study.md
	mv build/statistics-study.md docs/statistics-study.md

install:
	test -e $(release)/build.ninja || { echo "install: nothing is built yet: run make build first" >&2; exit 1; }
	DESTDIR="$(DESTDIR)" cmake --install $(release) --prefix "$(PREFIX)"

docs: build
	scripts/setup --docs
	.venv/bin/python scripts/docs.py

release: build
	scripts/setup --release
	scripts/release $(RELEASE)

release-check:
	scripts/check-release

clean:
	rm -rf build

# $(call configure,PRESET,OPTIONS)
define configure
mkdir -p build/log
cmake --preset $(1) $(2) >build/log/configure-$(1).log 2>&1 || { cat build/log/configure-$(1).log >&2; exit 1; }
endef

# $(call compile,PRESET,TARGET)
define compile
echo "building $(2) ($(1), $(JOBS) jobs)"
cmake --build build/$(1) --target $(2) -j $(JOBS) $(quiet)
endef

# $(call run_ctest,FOLDER,OPTIONS): all of ctest's output if a test fails, else its closing lines. One more at a time than there are
# processors: some wait for workers and servers.
define run_ctest
echo "ctest in $(1)"
ctest --test-dir $(1) $(2) -j $$(($(JOBS) + 1)) --no-tests=error --output-on-failure >build/log/ctest.log 2>&1 || { cat build/log/ctest.log >&2; exit 1; }
sed -n '/^100% tests passed/,$$p' build/log/ctest.log
endef

# $(call run_pytest,OPTIONS AND FOLDERS)
run_pytest = INFERMETER_BUILD="$(CURDIR)/$(release)" .venv/bin/python -m pytest -q $(1)
