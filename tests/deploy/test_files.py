"""The files for operators: what they name exists in the code. No Docker engine and no cluster runs them."""

from __future__ import annotations

import configparser
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from packaging.requirements import Requirement

from tests.cli.test_app import transom
from tests.docs.pages import text_of
from transom.cli.app import app
from transom.cli.live.listening import read_listening
from transom.errors import EXIT_CODES
from transom.project.project import read_project
from transom.serving.http.access import OPEN_PATHS
from transom.serving.http.server import SHORTEST_TOKEN
from transom.version import __version__

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "examples" / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
STATE = "/var/lib/transom"
NO_RESTART = sorted(code for code, (_, restart) in EXIT_CODES.items() if code and restart == "no")
GROUP: Any = typer.main.get_command(app)
USAGE_ERROR: Any = typer.BadParameter.__base__


def dockerfile() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, with continued lines joined."""
    text = re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text("utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.strip().partition(" ") for line in lines)]


def values(instruction: str) -> list[str]:
    return [rest for word, rest in dockerfile() if word == instruction]


def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text("utf-8")))


def manifest() -> dict[str, Any]:
    documents = yaml.safe_load_all((DEPLOY / "kubernetes" / "spark-application.yaml").read_text("utf-8"))
    return next(dict(one["spec"]) for one in documents if one["kind"] == "SparkApplication")


def unit(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(path, "utf-8")
    return parser


def argv_of(command: str) -> list[str]:
    """The arguments of a command in JSON."""
    return [str(word) for word in yaml.safe_load(command)]


def commands() -> Iterator[tuple[str, list[str]]]:
    """Every call of `transom` in the files, without its first word."""
    yield "Dockerfile", argv_of(values("CMD")[-1])
    yield "compose.yaml", compose()["services"]["transom"]["command"]
    yield "spark-application.yaml", manifest()["arguments"]
    for path in UNITS:
        if unit(path).has_option("Service", "ExecStart"):
            program, *words = shlex.split(unit(path)["Service"]["ExecStart"])
            assert program == "/opt/transom/bin/transom"
            yield path.name, words


@pytest.mark.parametrize(("file", "words"), list(commands()), ids=lambda value: value if isinstance(value, str) else "")
def test_every_command_and_option_exists(file: str, words: list[str]) -> None:
    name, *rest = words
    assert name in GROUP.commands, file
    context = GROUP.commands[name].make_context(name, list(rest))  # parses, and runs nothing
    assert not context.args


@pytest.mark.parametrize("call", ["serv", "serve --listn x", "serve a b", "clean x"])
def test_a_wrong_call_would_be_noticed(call: str) -> None:
    name, *rest = call.split()
    with pytest.raises((KeyError, USAGE_ERROR)):
        GROUP.commands[name].make_context(name, rest)


def test_exit_codes_decide_about_restarts() -> None:
    service = unit(DEPLOY / "systemd" / "transom.service")["Service"]
    assert [int(code) for code in service["RestartPreventExitStatus"].split()] == NO_RESTART
    assert (service["Restart"], service["KillMode"]) == ("on-failure", "mixed")
    assert f"RestartPreventExitStatus={' '.join(map(str, NO_RESTART))}" in text_of("docs/operations.md")
    assert (manifest()["restartPolicy"]["type"], compose()["services"]["transom"]["restart"]) == (
        "OnFailure",
        "unless-stopped",
    )


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    """The programs that the units start are not here, so another one stands for them."""
    for path in UNITS:
        (tmp_path / path.name).write_text(path.read_text("utf-8").replace("/opt/transom/bin/transom", "/bin/true"))
    names = [str(tmp_path / path.name) for path in UNITS]
    result = subprocess.run(["systemd-analyze", "verify", *names], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_project_is_valid_and_its_state_is_kept() -> None:
    result = transom("check", DEPLOY / "project")
    assert result.returncode == 0, result.stderr
    assert transom("fmt", "--check", DEPLOY / "project").returncode == 0
    catalog = yaml.safe_load((DEPLOY / "project" / "catalog.yaml").read_text("utf-8"))
    source = catalog["extents"]["power"]["source"]["kafka"]
    state = str(read_project(DEPLOY / "project" / "transom.toml").state)
    assert state.startswith(f"{STATE}/")
    assert source["dead"].startswith(f"{STATE}/")
    assert values("VOLUME") == [STATE]
    services = compose()["services"]
    assert f"transom:{STATE}" in services["transom"]["volumes"]
    assert "../project:/project:ro" in services["transom"]["volumes"]
    assert unit(DEPLOY / "systemd" / "transom.service")["Service"]["StateDirectory"] == Path(STATE).name
    cleaning = unit(DEPLOY / "systemd" / "transom-clean.service")
    assert source["dead"] in shlex.split(cleaning["Service"]["ExecStart"])
    assert cleaning["Unit"]["ConditionPathIsDirectory"] == source["dead"]
    for role in ("driver", "executor"):
        assert {"name": "state", "mountPath": STATE} in manifest()[role]["volumeMounts"]
    assert source["servers"] == services["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"].removeprefix(
        "PLAINTEXT://"
    )
    assert source["topic"] in services["topics"]["command"]


def test_every_secret_is_mounted() -> None:
    words = (DEPLOY / "project" / "transom.toml").read_text("utf-8")
    words += " ".join(compose()["services"]["transom"]["command"])
    wanted = set(re.findall(r"/run/secrets/(\w+)", words))
    assert wanted == {"postgres", "token", "certificate", "key"}
    assert wanted == set(compose()["services"]["transom"]["secrets"]) <= set(compose()["secrets"])
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert "examples/deploy/compose/secrets" in ignored
    for role in ("driver", "executor"):
        assert "/run/secrets" in [mount["mountPath"] for mount in manifest()[role]["volumeMounts"]]
        assert {mount["name"] for mount in manifest()[role]["volumeMounts"]} <= {
            v["name"] for v in manifest()["volumes"]
        }


def test_compose_listens_as_serve_allows(tmp_path: Path) -> None:
    """Other computers need a token and TLS, and the health check asks the port."""
    words = compose()["services"]["transom"]["command"]
    options = dict(zip(words[2::2], words[3::2], strict=True))
    for name in ("token", "certificate", "key"):
        (tmp_path / name).write_text("x" * SHORTEST_TOKEN)
    files = {option: tmp_path / Path(options[option]).name for option in options if "/run/secrets" in options[option]}
    port = options["--listen"].rpartition(":")[2]
    read_listening(options["--listen"], files["--token-file"], files["--tls-certificate"], files["--tls-key"], None, "")
    assert compose()["services"]["transom"]["ports"] == [f"127.0.0.1:{port}:{port}"]
    default = next(p.default for p in GROUP.commands["serve"].params if p.name == "listen")
    assert default == f"127.0.0.1:{port}"
    assert values("EXPOSE") == [port]
    for check in (values("HEALTHCHECK")[0], " ".join(compose()["services"]["transom"]["healthcheck"]["test"])):
        assert f"127.0.0.1:{port}/healthz" in check
    assert "/healthz" in OPEN_PATHS


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_the_health_check(status: int, healthy: bool) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/healthz" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        _, _, code = argv_of(values("HEALTHCHECK")[0].partition("CMD ")[2])
        code = code.replace(":8470", f":{server.server_port}")
        assert (subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 0) is healthy
        _, _, _, with_tls = compose()["services"]["transom"]["healthcheck"]["test"]
        plain = with_tls.replace("https://", "http://").replace(":8470", f":{server.server_port}")
        plain = plain.replace(", context=ssl._create_unverified_context()", "")
        assert (subprocess.run([sys.executable, "-c", plain], stderr=subprocess.DEVNULL).returncode == 0) is healthy
    finally:
        server.shutdown()
        server.server_close()


def test_the_image() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    [install] = [line for line in values("RUN") if "pip install" in line]
    extras = re.search(r"\.whl\)\[([\w,]+)\]", install)
    assert extras is not None
    assert set(extras[1].split(",")) <= project["optional-dependencies"].keys()
    [spark] = [Requirement(one) for one in project["optional-dependencies"]["spark"] if one.startswith("pyspark")]
    versions = {line.removeprefix("SPARK_VERSION=") for line in values("ARG")} | {manifest()["sparkVersion"]}
    versions |= set(re.findall(r"apache/spark:([\d.]+)-", " ".join(values("FROM"))))
    assert len(versions) == 1
    assert versions.pop() in spark.specifier
    python = re.search(r"python:([\d.]+)-", " ".join(values("FROM")))
    assert python is not None
    assert f"Programming Language :: Python :: {python[1]}" in project["classifiers"]
    assert any("openjdk-17-jre" in line for line in values("RUN"))
    [user] = values("USER")
    assert f"useradd --uid {user} " in " ".join(values("RUN"))
    assert {manifest()[role]["securityContext"]["runAsUser"] for role in ("driver", "executor")} == {int(user)}
    for line in values("COPY"):
        source = line.split()[-2]
        assert source.startswith("/") or (ROOT / source).exists(), line


def test_compose_builds_this_image_and_names_what_it_declares() -> None:
    document = compose()
    build = document["services"]["transom"]["build"]
    context = (DEPLOY / "compose" / build["context"]).resolve()
    assert context == ROOT
    assert context / build["dockerfile"] == DEPLOY / "Dockerfile"
    stages = {line.rpartition(" AS ")[2] for line in values("FROM")}
    assert {build["target"], "operator"} <= stages
    for service in document["services"].values():
        assert set(service.get("depends_on", {})) <= document["services"].keys()
        assert set(service.get("secrets", ())) <= document["secrets"].keys()
        named = {volume.partition(":")[0] for volume in service.get("volumes", ())}
        assert {name for name in named if not name.startswith((".", "/"))} <= document["volumes"].keys()


def test_the_application_starts_transom(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """spark-submit takes only files that end with .py as programs in Python."""
    main = manifest()["mainApplicationFile"].removeprefix("local://")
    assert f"examples/deploy/kubernetes/main.py {main}" in values("COPY")
    assert main.endswith(".py")
    monkeypatch.setattr(sys, "argv", [main, "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(DEPLOY / "kubernetes" / "main.py"), run_name="__main__")
    assert (ended.value.code, capsys.readouterr().out) == (0, f"transom {__version__}\n")


@pytest.mark.spark
def test_spark_submit_takes_the_program() -> None:
    """It refuses the script `transom` itself, whose name has no ending: it looks for a main class in it."""
    program = DEPLOY / "kubernetes" / "main.py"
    result = subprocess.run(["spark-submit", program, "--version"], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, f"transom {__version__}\n"), result.stderr


def test_every_file_is_described() -> None:
    readme = (DEPLOY / "README.md").read_text("utf-8")
    for path in sorted(DEPLOY.rglob("*")):
        name = path.relative_to(DEPLOY).as_posix()
        if path.is_file() and path.parent.name not in ("project", "secrets") and path.suffix != ".dockerignore":
            assert name == "README.md" or f"`{name}`" in readme, name
    assert "examples/deploy" in text_of("docs/operations.md")
