"""The manifests of kubernetes/: they fit the image, their configuration and each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.deploy.dockerfile import IMAGE, copies, environment, values
from tests.deploy.files import END_SECONDS, VERSION, document, documents, settings
from toolwire.config.kinds import is_loopback
from toolwire.config.model import Settings

FILES = ("kubernetes/sidecar.yaml", "kubernetes/gateway.yaml")
FOLDER = "/etc/toolwire"


class Manifest:
    """One file: its Deployment, and the gateway's container in there."""

    def __init__(self, file: str) -> None:
        self.documents = documents(file)
        self.deployment = self.of_kind("Deployment")
        self.pod = self.deployment["spec"]["template"]["spec"]
        self.containers = self.pod["containers"] + self.pod.get("initContainers", [])
        (self.gateway,) = (found for found in self.containers if found["name"] == "toolwire")

    def of_kind(self, kind: str) -> Any:
        (found,) = (found for found in self.documents if found["kind"] == kind)
        return found

    def mounted(self, container: Any) -> dict[str, Any]:
        """The volume at each path of a container."""
        volumes = {volume["name"]: volume for volume in self.pod["volumes"]}
        return {mount["mountPath"]: volumes[mount["name"]] for mount in container["volumeMounts"]}

    def configuration(self, folder: Path) -> Settings:
        """Lays the projected volume out in `folder`, as the kubelet would, and loads it."""
        for source in self.mounted(self.gateway)[FOLDER]["projected"]["sources"]:
            ((kind, wanted),) = source.items()
            held = self.of_kind({"configMap": "ConfigMap", "secret": "Secret"}[kind])
            assert held["metadata"]["name"] == wanted["name"]
            data = held["data"] if kind == "configMap" else held["stringData"]
            items = wanted.get("items", [{"key": key, "path": key} for key in data])
            for item in items:
                (folder / item["path"]).parent.mkdir(exist_ok=True)
                (folder / item["path"]).write_text(data[item["key"]], "utf-8")
        return settings(folder / "toolwire.toml", {})


@pytest.fixture(params=FILES)
def manifest(request: pytest.FixtureRequest) -> Manifest:
    return Manifest(request.param)


def test_the_configuration_loads_with_the_keys_of_the_secret(
    manifest: Manifest, tmp_path: Path
) -> None:
    loaded = manifest.configuration(tmp_path)
    secret = manifest.of_kind("Secret")["stringData"]
    assert [upstream.api_key.reveal() for upstream in loaded.upstreams] == [secret["bailian"]]
    clients = [line for line in secret.get("clients", "").splitlines() if not line.startswith("#")]
    assert [key.reveal() for key in loaded.server.client_keys] == clients


def test_the_command_of_the_image_finds_the_configuration(manifest: Manifest) -> None:
    assert f'"{FOLDER}/toolwire.toml"' in values(IMAGE, "CMD")[0]
    assert "command" not in manifest.gateway
    assert "args" not in manifest.gateway


def test_a_loopback_listener_is_probed_from_inside(manifest: Manifest, tmp_path: Path) -> None:
    server = manifest.configuration(tmp_path).server
    probes = [value for key, value in manifest.gateway.items() if key.endswith("Probe")]
    assert len(probes) >= 2
    for probe in probes:
        if is_loopback(server.host):
            *_, file, port = probe["exec"]["command"]
            assert ("deploy/healthz.py", file) in copies(IMAGE)
            assert port == str(server.port)
        else:
            (named,) = manifest.gateway["ports"]
            assert probe["httpGet"] == {"path": "/healthz", "port": named["name"]}
            assert named["containerPort"] == server.port


def test_the_gateway_has_no_rights(manifest: Manifest) -> None:
    user, group = (int(number) for number in values(IMAGE, "USER")[-1].split(":"))
    pod = manifest.pod["securityContext"]
    context = {**pod, **manifest.gateway["securityContext"]}
    assert (context["runAsUser"], context["runAsGroup"]) == (user, group)
    assert context["runAsNonRoot"] is True
    assert context["readOnlyRootFilesystem"] is True
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}


def test_the_gateway_can_read_its_keys_and_write_its_state(manifest: Manifest) -> None:
    mounted = manifest.mounted(manifest.gateway)
    writable = {path for path, volume in mounted.items() if "emptyDir" in volume}
    assert writable == {"/tmp", f"{environment(IMAGE)['XDG_STATE_HOME']}/toolwire"}
    group = int(values(IMAGE, "USER")[-1].split(":")[1])
    assert manifest.pod["securityContext"]["fsGroup"] == group
    assert mounted[FOLDER]["projected"]["defaultMode"] == 0o440


def test_the_gateway_has_the_time_to_drain(manifest: Manifest, tmp_path: Path) -> None:
    drain = manifest.configuration(tmp_path).server.drain_seconds
    stops = [found["lifecycle"]["preStop"] for found in manifest.pod["containers"]]
    waits = [float(stop["exec"]["command"][1]) for stop in stops]
    assert manifest.pod["terminationGracePeriodSeconds"] >= max(waits) + drain + END_SECONDS


def test_the_image_is_that_of_this_version(manifest: Manifest) -> None:
    assert manifest.gateway["image"].rpartition(":")[2] == VERSION


def test_labels_select_the_pods(manifest: Manifest) -> None:
    labels = manifest.deployment["spec"]["template"]["metadata"]["labels"]
    assert manifest.deployment["spec"]["selector"]["matchLabels"] == labels


def test_the_sidecar_lives_as_long_as_the_application(tmp_path: Path) -> None:
    sidecar = Manifest(FILES[0])
    assert sidecar.gateway in sidecar.pod["initContainers"]
    assert sidecar.gateway["restartPolicy"] == "Always"
    assert "startupProbe" in sidecar.gateway
    server = sidecar.configuration(tmp_path).server
    (app,) = sidecar.pod["containers"]
    urls = {item["name"]: item["value"] for item in app["env"] if item["name"].endswith("_URL")}
    address = f"http://{server.host}:{server.port}"
    # The SDK of OpenAI adds /chat/completions to its address, that of Anthropic /v1/messages.
    assert urls == {"OPENAI_BASE_URL": f"{address}/v1", "ANTHROPIC_BASE_URL": address}


def test_service_budget_and_monitor_fit_the_gateway(tmp_path: Path) -> None:
    gateway = Manifest(FILES[1])
    labels = gateway.deployment["spec"]["template"]["metadata"]["labels"]
    ports = {port["name"] for port in gateway.gateway["ports"]}
    service = gateway.of_kind("Service")["spec"]
    assert service["selector"] == labels
    assert {port["targetPort"] for port in service["ports"]} <= ports
    assert gateway.of_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    monitor = document("kubernetes/podmonitor.yaml")["spec"]
    assert monitor["selector"]["matchLabels"] == labels
    (endpoint,) = monitor["podMetricsEndpoints"]
    assert endpoint["port"] in ports
    (job,) = (
        scrape["job_name"] for scrape in document("prometheus/prometheus.yml")["scrape_configs"]
    )
    assert endpoint["relabelings"] == [{"targetLabel": "job", "replacement": job}]


@pytest.mark.parametrize("version", ["1.29", "1.32"])
@pytest.mark.parametrize("file", FILES)
def test_kubernetes_knows_every_field(file: str, version: str) -> None:
    validation = pytest.importorskip(
        "kubernetes_validate",
        reason="kubernetes-validate is not installed (pip install kubernetes-validate)",
    )
    for found in documents(file):
        validation.validate(found, version, strict=True)
