# Everything a fresh clone needs: `make demo`, `make test`. Each sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
# One BLAS thread a process: the arrays are small, and tests and benchmarks already run side by side.
export OMP_NUM_THREADS ?= 1
# Tests and benchmarks start Python hundreds of times: its files are compiled once.
unexport PYTHONDONTWRITEBYTECODE
TWO_WORKERS := -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: setup demo test test-fast test-nightly test-lowest coverage check page bench docs docs-fast images wheel format clean
setup: $(STAMP)

$(STAMP): pyproject.toml packages/eigenwell-paper/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade pip
	$(PY) -m pip install --quiet --editable ".[dev]" --editable packages/eigenwell-paper
	touch $@

demo: setup
	$(PY) examples/demo.py

# Browsers last: the studio learns at low priority, and would wait for the other tests.
test: setup
	$(PY) -m pytest $(TWO_WORKERS) -m "not browser"
	$(PY) -m pytest $(TWO_WORKERS) -m browser $(shell grep -lw browser tests/test_*.py)

# Files without a fast test are not even imported: Dask, servers and browsers take seconds.
test-fast: setup
	$(PY) -m pytest $(TWO_WORKERS) -m "not slow and not browser and not cluster" --ignore-glob='tests/test_distributed*' \
		--ignore=tests/test_studio_server.py --ignore=tests/test_studio_page.py --ignore=tests/test_readme.py

# New random examples for every property, instead of the same ones each time.
test-nightly: setup
	EIGENWELL_TESTS=nightly $(PY) -m pytest $(TWO_WORKERS) -m "not browser and not cluster"

# The oldest versions that pyproject.toml allows, in an environment of their own.
test-lowest:
	$(PYTHON) -m venv build/lowest
	build/lowest/bin/python -m pip install --quiet uv
	build/lowest/bin/uv pip install --quiet --python build/lowest/bin/python --resolution lowest-direct ".[test]" ./packages/eigenwell-paper
	build/lowest/bin/python -m pytest -q -m "not slow and not browser and not cluster"

# Lines of the core that tests run; fails where a module of it has fewer than 90 %.
coverage: setup
	$(PY) -m pytest -q $(TWO_WORKERS) -m "not browser" --cov --cov-report=json:build/coverage.json
	$(PY) -m benchmarks.coverage build/coverage.json

check: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# The studio's page: its formulas, printed from Python's; a linter, unit tests of its parts. The page itself needs nothing of this.
page: setup
	$(PY) -m eigenwell.export.javascript > src/eigenwell/studio/page/formulas.js
	npm install --no-audit --no-fund
	npm run lint
	npm test

bench: setup
	$(PY) -m benchmarks.core
	$(PY) -m benchmarks.identify
	$(PY) -m benchmarks.noise
	$(PY) -m benchmarks.recordings
	$(PY) -m benchmarks.snapshots --quick
	$(PY) -m benchmarks.spectrum
	$(PY) -m benchmarks.lasa
	$(PY) -m benchmarks.fields
	$(PY) -m benchmarks.motions
	$(PY) -m benchmarks.export
	$(PY) -m benchmarks.studio
	$(PY) -m benchmarks.studio_page
	$(PY) -m benchmarks.distributed

# The site, in build/site: every example of the gallery is run, which takes some minutes the first time.
docs: $(VENV)/.docs
	$(PY) docs/make_commands.py
	rm -rf build/site
	$(PY) -m sphinx -W --keep-going -b html docs build/site
	$(PY) -m eigenwell studio --static build/site/studio
	$(PY) docs/check_links.py build/site

# The same without running the gallery: pages have no pictures from it.
docs-fast: $(VENV)/.docs
	$(PY) -m sphinx -b html -D plot_gallery=0 docs build/site

$(VENV)/.docs: $(STAMP)
	$(PY) -m pip install --quiet --editable ".[docs]" --editable packages/eigenwell-paper
	touch $@

# Pictures of README and of the paper.
images: setup
	$(PY) examples/demo.py docs/images
	$(PY) docs/make_eight_image.py
	$(PY) -m docs.make_studio_image

wheel: setup
	rm -rf dist
	$(PY) -m build
	$(PY) -m build --outdir dist packages/eigenwell-paper
	$(PY) -m twine check --strict dist/*

format: setup
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage build dist
	rm -rf docs/tutorials docs/gallery docs/reference/api docs/reference/generated docs/reference/measurements.md docs/reference/index.md docs/sg_execution_times.rst
