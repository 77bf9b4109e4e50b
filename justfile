# What people do with this repository. `just --list` shows it all.

# plain tests: no JVM, under two minutes
test *options:
    python -m pytest -n auto {{options}}

# the long suites: thousands of generated questions and plans, and the machines in Java
deep:
    python -m pytest -n auto --deep --kernel -m "deep or kernel"

# the tests on Spark: needs a JVM
spark *options:
    python -m pytest --spark --whole tests/spark {{options}}

# the kernel's jar anew, which is in the repository: after every change below kernel/src/main; needs the pinned JDK
kernel:
    python kernel/build.py jar

# whether the kernel's jar in the repository is what its sources give, byte by byte; needs a JDK
kernel-check:
    python kernel/build.py check

# the hand-derived cases on Spark, all splits with the kernel and without
golden:
    TRANSOM_GOLDEN=whole python -m pytest --spark tests/spark/golden/test_golden.py tests/spark/golden/test_golden_cql.py tests/spark/golden/test_golden_rdf.py tests/spark/operators/test_forgetting.py

# thousands of generated streams and of drawn texts of SPARQL through Spark, with the kernel and without, against the reference engine; other seeds, other queries
soak seed="10000":
    TRANSOM_SOAK_SEED={{seed}} TRANSOM_SOAK_PARTS=128 python -m pytest --spark --soak -m soak tests/spark/generated/test_generated.py tests/spark/generated/test_generated_cql.py tests/spark/generated/test_generated_rdf.py tests/spark/generated/test_drawn_texts.py tests/spark/generated/test_soaked_texts.py tests/spark/faults/test_faults_rdf.py tests/spark/operators/test_triples.py

# the collector, sources and sinks against real brokers, devices and databases; needs mosquitto and postgresql
servers:
    TRANSOM_SERVERS_REQUIRED=1 python -m pytest --servers --spark --whole tests/servers

# rows of a topic in micro-batches of one row each, of which every twentieth is late
late rows="1000":
    TRANSOM_LATE_ROWS={{rows}} TRANSOM_SERVERS_REQUIRED=1 python -m pytest --servers --spark tests/servers/kafka/test_late.py --whole -k rows

# a plant of 100 devices with Mosquitto, Kafka, PostgreSQL, the collector and three runs; installs what is missing, and returns
plant-up *options:
    #!/usr/bin/env bash
    set -euo pipefail
    python=$(bash examples/plant/install)
    "$python" -m examples.plant.plant up {{options}}

# whether the plant that is up is exact so far: sinks against the reference engine, logs against the devices
plant-check:
    #!/usr/bin/env bash
    set -euo pipefail
    python=$(bash examples/plant/install)
    "$python" -m examples.plant.check

# stops all that plant-up started
plant-down:
    #!/usr/bin/env bash
    set -euo pipefail
    python=$(bash examples/plant/install)
    "$python" -m examples.plant.plant down

# 300 s of a plant whose processes are killed at random, 26 times, and the Kafka broker restarted; needs mosquitto and postgresql
soak-plant *options:
    python -m tests.servers.soak {{options}}

# 200,000 mutated inputs to each reader: the parsers, catalogs, messages, messages of RDF; `--state FILE` lets a run go on
fuzz count="200000" seed="1" *options:
    python -m tests.fuzz.readers --count {{count}} --seed {{seed}} {{options}}

# faults drawn by a seed over all layers: which tests notice them, and which faults survive; hours
mutants seed="19" count="30" *options:
    python -m tests.mutants run --seed {{seed}} --count {{count}} {{options}}

# plain tests that pass without making a claim
vacuous *options:
    python -m pytest -n auto -p tests.mutants.vacuous -o enable_assertion_pass_hook=true {{options}}

# all W3C tests of SPARQL queries; TRANSOM_CONFORMANCE says where the suite is
conformance:
    python -m tests.conformance

# queries killed ten times each, four at once, and started again
chaos kills="10" seed="1":
    mkdir -p build
    python -m tests.spark.classes "$PWD/build/classes.jsa"
    TRANSOM_CLASSES="$PWD/build/classes.jsa" python -m tests.spark.kills.chaos --kills {{kills}} --seed {{seed}} --together 4

# twelve plans through every fault: cells that were not run at this commit, the oldest first; needs a C compiler and postgresql, and mounts file systems
matrix *options:
    mkdir -p build
    python -m tests.spark.classes "$PWD/build/classes.jsa"
    TRANSOM_CLASSES="$PWD/build/classes.jsa" python -m tests.matrix run {{options}}
    python -m tests.matrix table

# two million rows through each shape, the rows in state against their bounds
state rows="2000000":
    TRANSOM_STATE_ROWS={{rows}} python -m pytest -s --spark tests/spark/running/test_state.py

# sliding windows, the kernel, joins, many objects and statements against PySpark written by hand, in one run; wants a quiet machine
bench *options:
    python -m benchmarks.sliding {{options}}
    python -m benchmarks.kernel {{options}}
    python -m benchmarks.joins {{options}}
    python -m benchmarks.objects {{options}}
    python -m benchmarks.triples {{options}}

# a topic of Kafka: how many messages per second, and how long from an event to its row; starts a broker, wants a quiet machine
bench-plant *options:
    python -m benchmarks.kafka {{options}}
    python -m benchmarks.latency {{options}}

# all that is measured, other engines included, and a picture of it: hours on a quiet machine
bench-all results="build/benchmarks/lines.jsonl":
    python -m benchmarks.sliding --results {{results}}
    python -m benchmarks.settings --results {{results}}
    python -m benchmarks.kernel --results {{results}}
    python -m benchmarks.joins --results {{results}}
    python -m benchmarks.grid --results {{results}}
    python -m benchmarks.keys --results {{results}}
    python -m benchmarks.objects --results {{results}}
    python -m benchmarks.triples --results {{results}}
    python -m benchmarks.terms --results {{results}}
    python -m benchmarks.scan --results {{results}}
    python -m benchmarks.kafka --results {{results}}
    python -m benchmarks.latency --results {{results}}
    python -m benchmarks.peers --results {{results}}
    python -m benchmarks.plot {{results}} -o {{without_extension(results)}}.svg

# 100 devices at one reading a second for ten minutes, one hanging and one refusing: from the tick to the log
bench-devices *options:
    python -m benchmarks.devices {{options}}

# style and likely mistakes
lint:
    ruff check .
    ruff format --check .

# mypy, strict
types:
    mypy

# imports go one way, and in no circle
layers:
    lint-imports
    python -m tests.import_cycles

# the documentation as a site: `just docs` builds it, `just docs serve` shows it while you write
docs command="build":
    python -m website {{command}}

# the site in Chromium, wide and narrow; screenshots go to build/website/screenshots
browser *options:
    python -m pytest --browser --whole tests/website/test_browser.py {{options}}

# coverage of the plain tests, by file
cover:
    python -m pytest -n auto --cov=transom --cov-report=term

# the plain tests on every Python that is supported; one that is missing is an error
pythons *options:
    #!/usr/bin/env bash
    set -euo pipefail
    for version in 3.11 3.12 3.13; do
        python=$(bash .ci/python "$version" "build/python-$version")
        "$python" --version
        "$python" -m pytest -n auto {{options}}
    done

# the plain tests with the lowest version of every dependency that pyproject.toml allows
lowest *options:
    #!/usr/bin/env bash
    set -euo pipefail
    python=$(bash .ci/lowest build/lowest)
    "$python" -m pytest -n auto {{options}}

# known vulnerabilities of the locked dependencies, as far as the data can be had; without data it fails, and says so
audit:
    bash .ci/audit

# everything that CI does; with --no-slice only the chosen tests
ci *options:
    bash .ci/run {{options}}

# all that CI leaves out, in shards of at most 25 minutes: `just nightly`, or `just nightly --shard 2/9` or `--shard today`; resumes where it ended
nightly *options:
    python -m tests.gate nightly {{options}}

# how many tests are chosen and nightly, how long they take, and in how many shards and slices
gate:
    python -m tests.gate plan

# the lock file of the development environment
lock:
    uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --no-annotate --no-emit-index-url --custom-compile-command "just lock" --quiet --output-file requirements-dev.txt
