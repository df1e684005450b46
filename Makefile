# The short recipes. The longer ones are in scripts/.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup run probes check test test-long bench docs lock dist deb clean static setup-test

bin := .venv/bin

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

setup: ## make .venv with the probe and the lab (installs what is missing)
	@scripts/setup run

run: setup ## measure this machine and show the verdict; ARGS="list" and the like run any other verb
	@$(bin)/tauto $(ARGS)

probes: ## build the probes for other machines (--on ssh:…); with COBALT=PREFIX or EVL=PREFIX also for that core, with WINDOWS=1 for Windows
	@WINDOWS=$(WINDOWS) scripts/setup probes
	@COBALT=$(COBALT) EVL=$(EVL) WINDOWS=$(WINDOWS) scripts/build-probes

check: static ## the quick checks: format, lint, types, C unit tests, quick tests
	@scripts/test quick

test: static ## every check: also sanitizers, clang, the static probe, the virtual lab, slow tests
	@scripts/test

test-long: setup-test ## many more runs and hostile files than `make test` tries; takes hours
	@scripts/test long

bench: ## compare with cyclictest, jitterdebugger, stress-ng and the middleware's own tools; kept out of the tests
	@scripts/setup bench
	@scripts/build-probes x86_64
	@$(bin)/python bench

docs: ## build the documentation as a site, build/site/index.html, and the man pages, build/man
	@scripts/setup docs
	@scripts/build-docs

lock: setup-test ## write requirements/*.txt anew from pyproject.toml; UPGRADE=1 takes the newest versions
	@UPGRADE=$(UPGRADE) scripts/lock

dist: setup ## build wheel, source distribution, and the wheel of the programs for other machines, into dist/
	@scripts/setup probes
	@scripts/build-dist

deb: setup ## build the Debian package into dist/ (on Debian)
	@scripts/build-deb

clean: ## remove everything that was made here
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests bench scripts -name __pycache__ -prune -exec rm -rf {} +

setup-test:
	@scripts/setup test

static: setup-test
	@scripts/check-style
