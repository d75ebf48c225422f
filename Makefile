# Everything a developer runs. `make demo` and `make test` need nothing but Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2

.PHONY: help demo test check docs engines engines-stop build mutants bench contradictions clean

help:
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/'

$(VENV)/.local: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[local]'
	@touch $@

$(STAMP): $(VENV)/.local
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[local,dev]'
	@touch $@

demo: $(VENV)/.local ## a conversation goes in, the context of the next model call comes out
	@$(BIN)/recollect demo

test: $(STAMP) ## all tests; those that need engines or built artifacts say so when left out
	$(BIN)/pytest -q -n $(WORKERS) --dist loadgroup --no-loadscope-reorder

check: $(STAMP) ## formatting, lint, types, imports, templates, generated documents
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy layers/memory/recollect functions tests
	$(BIN)/mypy infra/engines/*.py infra/*.py
	$(BIN)/mypy infra/bench/*.py
	$(BIN)/mypy infra/contradictions/*.py
	$(BIN)/mypy infra/mutants/*.py
	$(BIN)/lint-imports --no-cache
	$(BIN)/cfn-lint template.yaml
	$(BIN)/python infra/generate.py --check

docs: $(STAMP) ## writes the generated documents: OpenAPI, settings, layer requirements
	$(BIN)/python infra/generate.py

engines: ## starts OpenSearch, DynamoDB Local and an S3 server; prints what to export
	@$(PYTHON) infra/engines/engines.py start

engines-stop: ## ends them
	@$(PYTHON) infra/engines/engines.py stop

build: $(STAMP) ## builds functions and layers with SAM
	infra/sam.sh build

mutants: $(STAMP) ## breaks the rules of the domain one by one; docs/mutants.md lists what no test notices (an hour)
	$(BIN)/python infra/mutants/run.py

bench: $(STAMP) ## measures; figures go to docs/benchmarks.md
	$(BIN)/python infra/bench/run.py --write

contradictions: $(STAMP) ## tries every case of contradictions in four states; docs/contradictions.md (minutes)
	$(BIN)/python infra/contradictions/run.py --write

clean: ## removes what was built
	rm -rf $(VENV) .aws-sam build
