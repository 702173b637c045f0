# Two commands for a newcomer: `make demo` and `make test`. Each installs what is missing and does its whole job.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

# One set of flags everywhere: another set would rebuild everything.
STRICT := -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error
RELEASE := -c release $(STRICT) -Xswiftc -cross-module-optimization
ifeq ($(shell uname -s),Linux)
RELEASE += --static-swift-stdlib
# What every push runs through stands side by side in the program (Server/Benchmarks/hot-functions).
RELEASE += -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -use-ld=lld -Xlinker --no-warn-symbol-ordering \
  -Xlinker --symbol-ordering-file=$(CURDIR)/Server/Benchmarks/hot-functions.txt
endif
# A folder of its own: SwiftPM locks a build folder, and debug and release can then be built at once.
RELEASE += --scratch-path Server/.build/release-build
SWIFT_TEST := swift test --disable-xctest $(STRICT)
# A story whose parts are broken on purpose may have to kill a server, whose temporary folder then stays.
STORY := --may-leave='pabal-......$$'
SOURCES := $(wildcard Sources Tests Server/Sources Server/Tests Server/Fuzz Examples/TalentMarket/Sources \
  Examples/TalentMarket/Tests)

# `PABAL_TESTS` is for work on one target; here everything runs.
unexport PABAL_TESTS

.PHONY: help build install demo test test-release test-target test-long test-sanitize fuzz fuzz-coverage lint format docs bench bench-allocations clean

help: ## these lines
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' Makefile | expand -t 19

build: ## bin/pabal, as it is installed
	@scripts/bootstrap build
	@# SwiftPM does not know that the linker reads this list.
	@if [ Server/Benchmarks/hot-functions.txt -nt Server/.build/release-build/release/pabal ]; then \
	  rm -f Server/.build/release-build/release/pabal; fi
	swift build --package-path Server --product pabal $(RELEASE)
	@mkdir -p bin
	@cp "$$(swift build --package-path Server --product pabal $(RELEASE) --show-bin-path)/pabal" bin/pabal
	@echo "bin/pabal is ready"

PREFIX ?= /usr/local
TARGET = $(DESTDIR)$(PREFIX)

install: build ## bin/pabal and completion for bash, zsh and fish, below PREFIX (default /usr/local)
	install -d "$(TARGET)/bin" "$(TARGET)/share/bash-completion/completions" "$(TARGET)/share/zsh/site-functions" \
	  "$(TARGET)/share/fish/vendor_completions.d"
	install -m 755 bin/pabal "$(TARGET)/bin/pabal"
	bin/pabal completion bash >"$(TARGET)/share/bash-completion/completions/pabal"
	bin/pabal completion zsh >"$(TARGET)/share/zsh/site-functions/_pabal"
	bin/pabal completion fish >"$(TARGET)/share/fish/vendor_completions.d/pabal.fish"

demo: build ## the whole loop, from an app's register call to a tapped notification
	swift build --package-path Examples/TalentMarket $(STRICT)
	@no_proxy=127.0.0.1,localhost,::1 Examples/TalentMarket/.build/debug/talent-market-demo --pabal bin/pabal $(ARGS)

test: ## all tests, in debug builds
	@scripts/bootstrap test
	@$(MAKE) --no-print-directory -j3 build-server-tests build-sdk-tests build-story-tests
	scripts/run-test sdk 150 $(SWIFT_TEST)
	scripts/run-test server 500 $(SWIFT_TEST) --package-path Server
	PABAL_BIN=$(CURDIR)/Server/.build/debug/pabal scripts/run-test $(STORY) example 5 $(SWIFT_TEST) \
	  --package-path Examples/TalentMarket
	scripts/test-illegal-pushes
	scripts/test-clash-package

# Parts of `make test`. Builds run beside each other, but never beside tests.
BUILD_TESTS := swift build --build-tests --disable-xctest $(STRICT)
build-server-tests:
	$(BUILD_TESTS) --package-path Server
build-sdk-tests:
	$(BUILD_TESTS)
build-story-tests:
	$(BUILD_TESTS) --package-path Examples/TalentMarket

test-release: build ## bin/pabal as it is shipped: every command of the documents, and a machine without the toolchain
	@scripts/bootstrap test
	scripts/test-docs
	scripts/test-install
	Server/Benchmarks/hot-functions --check

test-target: ## only some test targets of the server: make test-target TESTS=HTTP2Tests,DeliveryTests
	@test -n "$(TESTS)" || { echo "usage: make test-target TESTS=HTTP2Tests,…" >&2; exit 2; }
	@scripts/bootstrap test
	PABAL_TESTS=$(TESTS) $(SWIFT_TEST) --package-path Server

fuzz: ## looks for inputs that break a parser, a minute each
	@scripts/bootstrap test
	scripts/fuzz

fuzz-coverage: ## how much of each parser the checked-in inputs reach: at least 80 % of its lines
	@scripts/bootstrap test
	scripts/fuzz-coverage

test-long: build fuzz-coverage fuzz ## the same tests with larger counts, and a minute of fuzzing for each parser
	@scripts/bootstrap test
	PABAL_TEST_SCALE=20 scripts/run-test server-long 500 $(SWIFT_TEST) --package-path Server
	PABAL_TEST_SCALE=20 scripts/run-test $(STORY) example-long 5 $(SWIFT_TEST) --package-path Examples/TalentMarket

test-sanitize: build ## debug tests under ThreadSanitizer and AddressSanitizer
	@scripts/bootstrap test
	scripts/test-sanitize

lint: ## format, imports, sizes, graph, status
	swift format lint --strict --parallel --recursive $(SOURCES)
	scripts/tidy
	scripts/check-imports
	scripts/test-check-imports
	scripts/test-checks
	scripts/target-graph --check
	scripts/make-docs --check
	scripts/check-error-codes
	scripts/check-status

format: ## in place
	swift format --in-place --parallel --recursive $(SOURCES)

docs: build ## docs/cli.md and docs/errors.md, and the SDK's symbol pages in .build/docs
	scripts/make-docs

bench: build ## CPU, memory and latency compared with h2load in the same run; ROWS=engine,send SINK=nghttpd for parts
	@scripts/bootstrap test
	Server/Benchmarks/run $(if $(ROWS),--rows $(ROWS)) $(if $(SINK),--sink $(SINK)) $(ARGS)

bench-allocations: build ## what a push allocates, against the numbers checked in
	@scripts/bootstrap test
	Server/Benchmarks/allocations $(ARGS)

clean: ## all that was built
	rm -rf bin .build Server/.build Examples/TalentMarket/.build
