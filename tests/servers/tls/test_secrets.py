"""A password is looked for wherever something is kept or shown: files, events, plans, words, lists of processes."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import psycopg
import pytest
from confluent_kafka import Producer

import transom
from tests.servers import start
from tests.servers.start import make_topic
from tests.servers.tls.secure import USER, WORD

CATALOG = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (line:string, watts:integer)
    source:
      kafka:
        servers: 127.0.0.1:{kafka}
        topic: secret-power
        time: at
        dead: dead/power
        user: eng
        password: ${{WORD}}
        tls: {{ca: ca.pem}}
  tariff:
    declare: stored (line:string, price:integer)
    rows: 10
    source:
      postgresql:
        url: postgresql://eng@127.0.0.1:{database}/postgres
        table: secret_tariff
        every: 10 s
        password: ${{WORD}}
        tls: {{ca: ca.pem}}
        log: {{address: 'kafka://127.0.0.1:{kafka}/secret-log', user: eng, password: '${{WORD}}', tls: {{ca: ca.pem}}}}
  meter:
    declare: pushed (number:integer)
    source:
      mqtt:
        broker: mqtts://127.0.0.1:{broker}
        topic: secret/numbers
        user: eng
        password: ${{WORD}}
        tls: {{ca: ca.pem}}
"""
QUERY = "SELECT line, watts FROM power"
JOINED = """
RSTREAM(SELECT power.line, watts, price FROM power [FROM NOW-9 TO NOW SLIDE 10 SEC], tariff [SCAN 10 SEC]
WHERE power.line = tariff.line)
"""
LOGGING = """
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {folder}/words.log
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %c %m%n%ex
logger.kafka.name = org.apache.kafka
logger.kafka.level = debug
logger.spark.name = org.apache.spark
logger.spark.level = info
"""


@pytest.fixture
def folder(kafka, secure_kafka, secure_database, secure_broker, certificates, tmp_path):
    """A catalog of servers that ask for the password, with some rows."""
    ports = {"kafka": secure_kafka["right"], "database": secure_database.port, "broker": secure_broker["right"]}
    (tmp_path / "catalog.yaml").write_text(CATALOG.format(**ports))
    (tmp_path / "ca.pem").write_bytes(certificates.ca.read_bytes())
    (tmp_path / "q.sneeql").write_text(QUERY)
    (tmp_path / "log4j2.properties").write_text(LOGGING.format(folder=tmp_path))
    (tmp_path / "events").mkdir()
    for topic in ("secret-power", "secret-answers"):
        make_topic(f"127.0.0.1:{kafka}", topic, 1)
    sender = Producer({"bootstrap.servers": f"127.0.0.1:{kafka}"})
    now = time.time() - 1_717_200_000
    for number in range(5):
        sender.produce("secret-power", json.dumps({"at": int(now) + number, "line": "a", "watts": number}).encode())
    sender.produce("secret-power", b"{")
    sender.flush(20)
    with psycopg.connect(f"postgresql://test@127.0.0.1:{secure_database.port}/postgres", autocommit=True) as one:
        one.execute("CREATE TABLE secret_tariff (line text, price integer)")
        one.execute("INSERT INTO secret_tariff VALUES ('a', 3)")
    return tmp_path


class Watched:
    """Runs commands of Transom, and keeps what they say and what the list of processes says meanwhile."""

    def __init__(self, folder: Path, jars: Path) -> None:
        self.folder = folder
        self.words: list[str] = []
        connector = ",".join(map(str, sorted(start.jars("connector", jars).glob("*.jar"))))
        conf = f"--conf spark.eventLog.enabled=true --conf spark.eventLog.dir=file:{folder}/events"
        java = f"-Dlog4j2.configurationFile=file:{folder}/log4j2.properties -XX:TieredStopAtLevel=1"
        more = f'--jars {connector} {conf} --driver-java-options "{java}" pyspark-shell'
        self._environment = {**os.environ, "WORD": WORD, "PYSPARK_SUBMIT_ARGS": more, "SPARK_LOCAL_IP": "127.0.0.1"}

    def run(self, *command: str) -> str:
        """One command; what it said."""
        done = threading.Event()
        watching = threading.Thread(target=self._watch, args=(done,))
        watching.start()
        try:
            ran = subprocess.run(
                [sys.executable, "-m", "transom", *command],
                cwd=self.folder,
                env=self._environment,
                capture_output=True,
                text=True,
                timeout=280,
            )
        finally:
            done.set()
            watching.join()
        self.words.append(ran.stdout + ran.stderr)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    def _watch(self, done: threading.Event) -> None:
        while not done.wait(0.2):
            for one in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    self.words.append(one.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
                except OSError:
                    continue


@pytest.mark.spark
@pytest.mark.covers("secrets")
def test_no_secret_is_kept_or_shown(folder, jars, secure_kafka, spark, monkeypatch):
    watched = Watched(folder, jars)
    assert "tariff: 1 rows" in watched.run("collect", "tariff", "meter", "--catalog", "catalog.yaml", "--for", "4 s")
    (folder / "joined.sneeql").write_text(JOINED)
    watched.run("explain", "joined.sneeql")
    monkeypatch.setenv("WORD", WORD)
    query = transom.compile(JOINED, transom.Catalog.load(folder / "catalog.yaml"))
    plan = query.explain("spark", spark=spark)
    assert "kafka" in plan.lower()
    watched.words.append(plan)
    watched.words.append(query.to_df(spark)._jdf.queryExecution().toString())
    sink = f"kafka://{USER}:${{WORD}}@127.0.0.1:{secure_kafka['right']}/secret-answers?ca=ca.pem"
    watched.run("run", "q.sneeql", "--once", "--checkpoint", "state", "--output", sink)
    assert (folder / "dead/power").is_dir()
    events, words = list((folder / "events").rglob("*")), (folder / "words.log").read_text()
    assert any(path.is_file() and path.stat().st_size for path in events)
    assert "ProducerConfig values" in words or "ConsumerConfig values" in words
    needles = [WORD.encode(), base64.b64encode(WORD.encode())[:-3]]
    for path in (path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        assert not any(needle in content for needle in needles), path.relative_to(folder)
    for said in watched.words:
        assert WORD not in said, said
