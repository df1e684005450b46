"""Metrics, alerts and the dashboard, as Prometheus' own tool reads them."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from live_runs import MS, feed, gathering
from real import PATIENCE_S
from tautochrone.live.metrics import metrics
from where import ROOT

EXAMPLES = ROOT / "examples" / "monitoring"


def promtool(*arguments: str, given: bytes = b"") -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.fail("Metrics are read by Debian's promtool: sudo apt-get install prometheus")
    ended = subprocess.run(
        [found, *arguments], input=given, capture_output=True, timeout=PATIENCE_S, check=False
    )
    said = (ended.stdout + ended.stderr).decode()
    assert ended.returncode == 0, said
    return said


def known() -> set[str]:
    """The names of all series there are."""
    shown = gathering()
    feed(shown, 120, late_every=60)
    shown.temperature_c, shown.frequency_khz = 61.5, {0: 1_400_000}
    return set(re.findall(r"^(tautochrone_\w+)", metrics(shown)[1].decode(), re.MULTILINE))


@pytest.mark.parametrize("steps", [0, 120])
def test_metrics_are_read_without_a_complaint(steps: int) -> None:
    shown = gathering()
    feed(shown, steps, late_every=60)
    assert promtool("check", "metrics", given=metrics(shown)[1]) == ""


@pytest.mark.slow
def test_alerts_are_rules_and_fire_when_they_should(tmp_path: Path) -> None:
    assert "4 rules found" in promtool("check", "rules", str(EXAMPLES / "alerts.yml"))
    series = "\n".join(
        f"      - series: '{name}'\n        values: '{values}'"
        for name, values in (
            ('tautochrone_cycles_late_total{run="r",source="cpu1"}', "0x10 3x20"),
            ('tautochrone_cycles_missed_total{run="r",source="cpu1"}', "0x30"),
            ('tautochrone_latency_recent_worst_seconds{run="r",source="cpu1"}', "0.0001x30"),
            ('tautochrone_deadline_seconds{run="r"}', "0.001x30"),
            ('tautochrone_newest_timestamp_seconds{run="r"}', "0x30"),
        )
    )
    expected = "\n".join(
        f"      - {{eval_time: {minute}m, alertname: {name}, exp_alerts: [{alerts}]}}"
        for minute, name, alerts in (
            (9, "CyclesLate", ""),
            (13, "CyclesLate", _alert("warning", "cpu1 of r had late or missed cycles", source="cpu1")),
            (13, "WorstLatencyNearDeadline", ""),
            (4, "MeasurementSilent", ""),
            (10, "MeasurementSilent", _alert("critical", "r has sent nothing for 10m 0s")),
            (13, "LateEventsAreFrequent", ""),
        )
    )
    test = tmp_path / "test.yml"
    test.write_text(
        f"rule_files: [{EXAMPLES / 'alerts.yml'}]\nevaluation_interval: 1m\ntests:\n  - interval: 1m\n"
        f"    input_series:\n{series}\n    alert_rule_test:\n{expected}\n"
    )
    promtool("test", "rules", str(test))


def _alert(severity: str, summary: str, **labels: str) -> str:
    told = ", ".join(
        f"{name}: {value}" for name, value in {"severity": severity, "run": "r", **labels}.items()
    )
    return f'{{exp_labels: {{{told}}}, exp_annotations: {{summary: "{summary}"}}}}'


def test_prometheus_takes_the_configuration(tmp_path: Path) -> None:
    for one in EXAMPLES.glob("*.yml"):
        shutil.copy(one, tmp_path)
    (tmp_path / "token.txt").write_text("a-token-that-nobody-guesses")
    assert "SUCCESS" in promtool("check", "config", str(tmp_path / "prometheus.yml"))


@pytest.mark.slow
def test_each_expression_of_the_dashboard_is_one_of_series_that_exist(tmp_path: Path) -> None:
    dashboard = json.loads((EXAMPLES / "grafana-dashboard.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(queries) >= 10
    rules = []
    for at, query in enumerate(queries):
        assert set(re.findall(r"tautochrone_\w+", query)) <= known(), query
        plain = query.replace("$__rate_interval", "5m").replace("$run", ".+")
        rules.append({"record": f"panel:{at}", "expr": plain})
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))  # JSON is YAML, too
    assert f"{len(rules)} rules found" in promtool("check", "rules", str(file))
    alerts = (EXAMPLES / "alerts.yml").read_text()
    assert set(re.findall(r"tautochrone_\w+", alerts)) <= known()


def test_a_deadline_is_told_in_seconds() -> None:
    shown = gathering()
    assert f'tautochrone_deadline_seconds{{run="{shown.about.run}"}} {MS / 1e9}' in metrics(shown)[1].decode()
