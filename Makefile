# The two doors: `make demo` and `make test`. Everything else is CMake with the presets of
# CMakePresets.json (release, dev).

# A clone at another path finds what ccache holds, also where headers are precompiled.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
export CCACHE_SLOPPINESS := pch_defines,time_macros

RELEASE := build/release
JOBS ?= $(shell nproc)
# More options of CMake's for a folder that is not configured yet.
CMAKE_OPTIONS ?=

# What `make demo` runs; the README shows its output.
DEMO := $(RELEASE)/apps/cli/headway predict --model llama-2-70b --cluster dgx-h100 --gpus 64 \
        --seq 4096 --global-batch 128 --tp 8 --pp 2

.DEFAULT_GOAL := help
.PHONY: help demo test test-program everything install deb dist wheel bench asan fuzz check format \
        screenshots docs site deps clean

help:
	@echo "make demo     install what is missing, build, predict one training step"
	@echo "make test     the same set-up, then every test"
	@echo "make install  to PREFIX=/usr/local, below DESTDIR where that is given"
	@echo "make deb      a package for Debian 12: build/package/headway_VERSION_amd64.deb"
	@echo "make dist     a program that needs no library, for any Linux on x86-64: build/dist/"
	@echo "make wheel    the Python package, tested in an empty environment: build/wheel/"
	@echo "make bench    the micro benchmarks"
	@echo "make asan     the tests with the address and undefined-behaviour sanitizers"
	@echo "make fuzz     every fuzz target with the sanitizers, MUTATIONS=1000000 each: hours"
	@echo "make check    format and static analysis"
	@echo "make format   apply .clang-format"
	@echo "make screenshots   take the pictures of docs/web"
	@echo "make docs     the documents as a site, with search: build/docs/index.html"
	@echo "make site     the page with its engine inside, for any server of files: build/site/"
	@echo "make deps     only install what is missing (scripts/install-deps --list names it)"
	@echo "make clean    remove build/"
	@echo ".ci/run       all that must pass before a change is merged"
	@echo ".ci/full      what takes longer: another compiler, more fuzzing, the thread sanitizer"

# The page goes into the binary; without node and npm the binary does without it.
demo: $(RELEASE)/build.ninja
	@scripts/build-web --if-possible
	@scripts/build $(RELEASE) $(JOBS) headway
	@echo '$$ $(strip $(DEMO))'
	@$(DEMO)
	@echo
	@echo "Next: change a flag of that line (headway predict --help names them all), give --json for"
	@echo "one document to read by program, or 'make test' to run every test."

test: everything
	@status=0; scripts/run-tests $(RELEASE) --exclude-regex '^sanitized\.' || status=1; \
	  scripts/run-web-tests || status=1; exit $$status
	@echo "Next: 'make demo' predicts a step; 'make bench' measures; '.ci/run' runs every check;"
	@echo "one test program alone: ls $(RELEASE)/src/*/*_test"

# All tests but those of the page.
test-program: everything
	@scripts/run-tests $(RELEASE) --exclude-regex '^sanitized\.'

everything: $(RELEASE)/build.ninja
	@scripts/install-deps --browser
	@scripts/build-web
	@scripts/build $(RELEASE) $(JOBS) all

PREFIX ?= /usr/local
DESTDIR ?=
install: $(RELEASE)/build.ninja
	@scripts/build-web --if-possible
	@scripts/build $(RELEASE) $(JOBS) headway_package
	@DESTDIR="$(DESTDIR)" cmake --install $(RELEASE) --prefix "$(PREFIX)" --strip >build/install.log || \
	  { cat build/install.log; exit 1; }
	@echo "installed below $(DESTDIR)$(PREFIX): $(PREFIX)/bin/headway"

deb: $(RELEASE)/build.ninja
	@scripts/install-deps --package
	@scripts/build-web
	@scripts/build $(RELEASE) $(JOBS) headway_package
	@cpack --config $(RELEASE)/CPackConfig.cmake -B build/package >build/package.log 2>&1 || \
	  { cat build/package.log; exit 1; }
	@rm -rf build/package/_CPack_Packages
	@ls build/package/*.deb

# Linked with Debian's glibc, which asks for Linux 3.2 or later. Its folder holds the licences of what
# is in it.
dist: deps
	@scripts/install-deps --package
	@scripts/build-web
	@scripts/static-libraries build/static-libraries
	@$(MAKE) --no-print-directory build/static/build.ninja
	@scripts/build build/static $(JOBS) headway_package
	@scripts/pack-dist

wheel: deps
	@scripts/install-deps --wheel
	@scripts/build-wheel
	@scripts/check-wheel

bench: $(RELEASE)/build.ninja
	@scripts/build $(RELEASE) $(JOBS) all
	@for bench in $$(find $(RELEASE) -name '*_bench' -type f -perm -u+x | sort); do \
	  echo "== $$bench"; $$bench || exit 1; done

# In the folder of the release build, which has the tests compiled. A tenth of the random cases, of
# which as many may be discarded as of all; and without what runs whole studies or commands one after
# the other or compares whole pages, whose parts have tests of their own.
STUDIES := Schema\.RealRequests|Answer\.RowsOfValidation|the_page_and_its_drawings|ThePageOfScaling|CliReport\.Renews|LimitsReal|ScaleSweepsAnswer|StudyMessages|SweepAnswers|Generalisation|KernelFit|StepFit|Cli\.WhatReads|Cli\.TheExampleInTheHelp|Cli\.EveryExample|Cli\.ThePagesOf|AreUsedByEveryCommand|CommsPublic\.NoLine
asan: $(RELEASE)/build.ninja
	@cmake -B $(RELEASE) -DHEADWAY_SANITIZE=ON >build/configure-sanitized.log 2>&1 || \
	  { cat build/configure-sanitized.log; exit 1; }
	@scripts/build $(RELEASE) $(JOBS) all
	@LSAN_OPTIONS="suppressions=$(CURDIR)/.ci/leaks.txt print_suppressions=0" \
	  RC_PARAMS="max_success=10 max_discard_ratio=100" scripts/run-tests $(RELEASE) \
	  --tests-regex '^sanitized\.' --exclude-regex '$(STUDIES)'

# In the same folder. What fails says the number of its mutation, which --only runs again alone. What
# an earlier run left is no result of this one, also where the build fails.
MUTATIONS ?= 1000000
fuzz: $(RELEASE)/build.ninja
	@rm -f $(RELEASE)/tests.xml
	@cmake -B $(RELEASE) -DHEADWAY_SANITIZE=ON -DHEADWAY_FUZZ_MUTATIONS=$(MUTATIONS) \
	  >build/configure-sanitized.log 2>&1 || { cat build/configure-sanitized.log; exit 1; }
	@scripts/build $(RELEASE) $(JOBS) fuzz_driver_sanitized
	@scripts/run-tests $(RELEASE) --build-config full --tests-regex '^full\.'

# Every view of the page, for docs/web and the README.
screenshots: $(RELEASE)/build.ninja
	@scripts/install-deps --browser
	@scripts/build-web
	@scripts/build $(RELEASE) $(JOBS) headway
	@cd web && npm run --silent screenshots

# The documents, with what the program says of each command.
docs: $(RELEASE)/build.ninja
	@scripts/install-deps --docs
	@scripts/build $(RELEASE) $(JOBS) headway
	@scripts/build-docs $(RELEASE)/apps/cli/headway

# The page that needs no server of ours: the engine in WebAssembly.
site: deps
	@scripts/install-deps --site
	@JOBS=$(JOBS) scripts/build-site

# Configured once; Ninja configures again by itself where a CMake file or a list of sources changes.
build/%/build.ninja: | deps
	@cmake --preset $* $(CMAKE_OPTIONS) >build/configure-$*.log 2>&1 || \
	  { cat build/configure-$*.log; rm -f $@; exit 1; }

deps:
	@scripts/install-deps
	@mkdir -p build

check: | deps
	@scripts/check-format
	@scripts/check-code

format: | deps
	@scripts/sources | xargs -0 clang-format -i

clean:
	rm -rf build
