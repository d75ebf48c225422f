# Everything a developer runs. `make demo` and `make test` need nothing but Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Some tests wait for processes and engines: three workers fill two cores.
WORKERS ?= 3

.PHONY: contradictions help install demo test check docs engines engines-stop build dist local-invoke local-api bench load compat crashes clean

help:
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/'

$(VENV)/.local: pyproject.toml constraints.txt
	@echo 'Installing the dependencies, about a minute...'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[local]'
	@touch $@

$(STAMP): $(VENV)/.local
	@echo 'Installing the dependencies for development, about a minute...'
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[aws,local,dev]'
	@touch $@

install: $(STAMP) ## what the other commands need, in .venv

demo: $(VENV)/.local ## a conversation goes in, the context of the next model call comes out
	@$(BIN)/recollect demo

test: $(STAMP) ## all tests; those that need engines or built artifacts say so when left out
	$(BIN)/pytest -q -n $(WORKERS) --dist loadscope --no-loadscope-reorder

check: $(STAMP) ## formatting, lint, types, imports, templates, the image, generated documents
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy layers/memory/recollect functions tests infra
	$(BIN)/lint-imports --no-cache
	$(BIN)/cfn-lint template.yaml infra/data.yaml
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/python -m infra.tools.generate --check

docs: $(STAMP) ## writes the generated documents: OpenAPI, settings, layer requirements
	$(BIN)/python -m infra.tools.generate

engines: ## starts OpenSearch, DynamoDB Local and an S3 server; prints what to export
	@$(PYTHON) -m infra.engines start

engines-stop: ## ends them
	@$(PYTHON) -m infra.engines stop

build: $(STAMP) ## builds functions and layers with SAM
	infra/sam.sh build

dist: $(STAMP) ## wheel and sdist in dist/, the same bytes from the same sources, checked by twine; URL=https://… is the repository's
	$(BIN)/python -m infra.tools.dist $(if $(URL),--url $(URL))

local-invoke: $(STAMP) ## runs a built function on the local engines: make local-invoke EVENT=ingest.http-events
	@$(BIN)/python -m infra.local invoke $(EVENT)

local-api: $(STAMP) ## the whole API on 127.0.0.1:3000 by sam local start-api; needs Docker
	@$(BIN)/python -m infra.local api

bench: $(STAMP) ## measures; figures go to docs/benchmarks.md
	$(BIN)/python -m infra.tools.bench --write

contradictions: $(STAMP) ## the figures of docs/contradictions.md: what the judge decides on pairs, talks, months, LoCoMo and keys
	$(BIN)/python -m infra.tools.judge evaluate --model $(or $(MODEL),~/.cache/recollect/models/e5-small.int8.1)
	$(BIN)/python -m infra.tools.bench --only contradictions

load: $(STAMP) ## load on a server of this machine: make load ARGS='--rate 50 --seconds 30'
	$(BIN)/python -m infra.tools.load $(ARGS)

compat: $(STAMP) ## other projects' suites against a server, embedded and on the engines; docs/compatibility.md
	$(BIN)/python -m infra.tools.compat

crashes: $(STAMP) ## a crash at every point of every use case; the tests take one in five
	RECOLLECT_CRASH_POINTS=all $(BIN)/pytest -q -n $(WORKERS) tests/crashes

clean: ## removes what was built
	rm -rf $(VENV) .aws-sam build dist
