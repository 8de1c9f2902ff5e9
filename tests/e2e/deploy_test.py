"""The files of tools/deploy: well-formed, consistent, and detected as launchers; and their commands,
with the README's train.py on this machine. tests/launchers runs the batch script under a real
Slurm.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import unittest

from programs import BIN, PATH, EndToEnd, LIMIT, fetch, free_port

try:
    import yaml
except ImportError:
    yaml = None

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
DEPLOY = TOOLS / "deploy"
PYTHON = os.environ.get("COXSWAIN_PYTHON", "")

# Starts the tasks of one machine with the manifest's settings, and returns their worst exit code.
SRUN = """#!/bin/bash
export SLURM_JOB_ID=7 SLURM_STEP_NODELIST=localhost SLURM_NTASKS={tasks}
[ "$1" = --kill-on-bad-exit=1 ] && shift
for ((task = 0; task < {tasks}; ++task)); do SLURM_PROCID=$task SLURM_LOCALID=$task "$@" & done
code=0
for ((task = 0; task < {tasks}; ++task)); do wait -n || code=$?; done
exit $code
"""


def variables_of(container, fields):
    """The environment that Kubernetes would give a container: fields are simulated, secrets equal."""
    made = {}
    for one in container["env"]:
        source = one.get("valueFrom", {})
        if "fieldRef" in source:
            value = fields[source["fieldRef"]["fieldPath"]]
        elif "secretKeyRef" in source:
            value = "secret"
        else:
            value = re.sub(r"\$\((\w+)\)", lambda name: made[name[1]], one["value"])
        made[one["name"]] = value
    return made


@unittest.skipUnless(yaml, "python3-yaml is not installed")
class Manifests(EndToEnd):

    def setUp(self):
        super().setUp()
        self.at = {}

    def manifests(self, name):
        return list(yaml.safe_load_all((DEPLOY / name).read_text()))

    def detected(self, env):
        done = self.coxswain("detect", "--json", env=env)
        found = json.loads(done.out)
        return {name: (found[name] or {}).get("value")
                for name in ("address", "task", "num_tasks", "attempt")}

    def assert_command(self, words):
        """Checks that it begins with a subcommand with known options, followed by a program."""
        own = words[1:words.index("--")]
        self.assertEqual(words[0], "coxswain")
        done = self.succeed(*own, "--help-all")
        for option in own[1:]:
            self.assertIn(option, done.out)

    def test_the_indexed_job_sets_what_kubernetes_does_not(self):
        service, job = self.manifests("indexed-job.yaml")
        spec, pod = job["spec"], job["spec"]["template"]["spec"]
        container = pod["containers"][0]

        self.assertEqual(service["spec"]["clusterIP"], "None")
        self.assertEqual(service["spec"]["selector"], {"job-name": job["metadata"]["name"]})
        self.assertEqual(pod["subdomain"], service["metadata"]["name"])
        self.assertEqual(spec["completionMode"], "Indexed")
        self.assertEqual(spec["completions"], spec["parallelism"])
        self.assert_command(container["command"])
        env = variables_of(container, {}) | {
            "KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_COMPLETION_INDEX": "3", "HOSTNAME": "train-3"}
        found = self.detected(env)
        self.assertEqual((found["task"], found["num_tasks"]), (3, spec["completions"]))

    def test_the_job_set_sets_coordinator_and_attempt(self):
        manifest, = self.manifests("jobset.yaml")
        name, spec = manifest["metadata"]["name"], manifest["spec"]
        jobs, = spec["replicatedJobs"]
        job = jobs["template"]["spec"]
        container = job["template"]["spec"]["containers"][0]

        self.assertEqual(spec["coordinator"]["replicatedJob"], jobs["name"])
        self.assertEqual((jobs["replicas"], job["completionMode"]), (1, "Indexed"))
        self.assertEqual(job["completions"], job["parallelism"])
        self.assert_command(container["command"])
        coordinator = f"{name}-{jobs['name']}-0-0.{name}"
        env = variables_of(container, {
            "metadata.labels['jobset.sigs.k8s.io/coordinator']": coordinator,
            "metadata.labels['jobset.sigs.k8s.io/restart-attempt']": "2"})
        env |= {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_COMPLETION_INDEX": "3"}
        self.assertEqual(self.detected(env), {
            "address": f"{coordinator}:8476", "task": 3, "num_tasks": job["completions"], "attempt": 2})

    def overlay(self):
        """The overlay of the README."""
        text, = re.findall(r"```yaml\n(.*?)```", (DEPLOY / "README.md").read_text(), re.DOTALL)
        return text, yaml.safe_load(text)

    def test_the_overlay_of_the_readme_changes_what_the_base_has(self):
        base, = self.manifests("kustomization.yaml")
        _, overlay = self.overlay()
        manifest, = [one for name in base["resources"] for one in self.manifests(name)]
        self.assertEqual((base["apiVersion"], base["kind"]), (overlay["apiVersion"], overlay["kind"]))
        self.assertEqual((manifest["apiVersion"], manifest["kind"]), ("jobset.x-k8s.io/v1alpha2", "JobSet"))
        self.assertNotIn("namespace", manifest["metadata"])
        container = manifest["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
        self.assertEqual(overlay["images"][0]["name"], container["image"])
        secret = next(one["valueFrom"]["secretKeyRef"] for one in container["env"] if one["name"] == "COXSWAIN_TOKEN")
        self.assertEqual(overlay["secretGenerator"], [{"name": secret["name"], "files": [secret["key"]]}])

        self.assertEqual(overlay["patches"][0]["target"], {"kind": "JobSet"})
        for change in yaml.safe_load(overlay["patches"][0]["patch"]):
            *path, last = [int(one) if one.isdigit() else one for one in change["path"].split("/")[1:]]
            place = manifest
            for one in path:
                place = place[one]
            self.assertEqual((change["op"], type(place[last])), ("replace", type(change["value"])))
            place[last] = change["value"]

        self.assert_number_of_tasks(manifest, 64)

    def assert_number_of_tasks(self, manifest, count):
        job = manifest["spec"]["replicatedJobs"][0]["template"]["spec"]
        self.assertEqual((job["completions"], job["parallelism"]), (count, count))
        self.assertIn({"name": "COXSWAIN_NUM_TASKS", "value": str(count)},
                      job["template"]["spec"]["containers"][0]["env"])

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is not installed")
    def test_kustomize_builds_the_overlay_of_the_readme(self):
        text, overlay = self.overlay()
        (self.directory / "kustomization.yaml").write_text(text)
        (self.directory / "token").write_text("pull")
        shutil.copytree(DEPLOY, self.directory / overlay["resources"][0])

        done = subprocess.run(["kubectl", "kustomize", self.directory], capture_output=True, text=True, timeout=LIMIT)

        self.assertEqual(done.returncode, 0, done.stderr)
        secret, manifest = yaml.safe_load_all(done.stdout)
        self.assertEqual(secret["data"], {"token": "cHVsbA=="})
        self.assertEqual({one["metadata"]["namespace"] for one in (secret, manifest)}, {"research"})
        self.assertIn("image: registry.example/train:v7\n", done.stdout)
        self.assert_number_of_tasks(manifest, 64)

    def test_the_aichor_operator_sets_all_values(self):
        manifest, = self.manifests("aichor.yaml")
        count = manifest["spec"]["types"]["Worker"]["count"]

        self.assertEqual(manifest["spec"]["operator"], "jax")
        self.assert_command(shlex.split(manifest["spec"]["command"]))
        env = {"JAXOPERATOR_COORDINATOR_ADDRESS": "$(JAXOPERATOR_COORDINATOR_HOST):1234",
               "JAXOPERATOR_COORDINATOR_HOST": "worker-0-0.experiment-6f4a",
               "JAXOPERATOR_NUM_PROCESSES": str(count), "JAXOPERATOR_PROCESS_ID": "1"}
        self.assertEqual(self.detected(env), {
            "address": "worker-0-0.experiment-6f4a:1234", "task": 1, "num_tasks": count,
            "attempt": None})


@unittest.skipUnless(yaml, "python3-yaml is not installed")
@unittest.skipUnless(PYTHON, "the Python package is not built")
class Trained(EndToEnd):
    """The commands of the manifests in simulated containers: their directory has train.py, and their
    environment is that of the manifest and its platform."""

    def setUp(self):
        super().setUp()
        (self.directory / "train.py").write_text((TOOLS / "examples/train.py").read_text())
        (self.directory / "python").symlink_to(sys.executable)

    def container(self, command, env):
        path = {"PATH": f"{self.directory}{os.pathsep}{PATH['PATH']}", "PYTHONPATH": PYTHON}
        return self.start("/bin/sh", "-c", 'cd "$0" && exec "$@"', self.directory, *command, env=path | env)

    def assert_trained(self, containers, tasks):
        codes = [one.wait() for one in containers]
        given = "".join(one.output() for one in containers)
        self.assertEqual(set(codes), {0}, given)
        ends = re.findall(r"stopped after 400 steps with weight \d+\.\d+", given)
        self.assertEqual((len(ends), len(set(ends))), (tasks, 1), given)

    def manifest(self, name):
        return list(yaml.safe_load_all((DEPLOY / name).read_text()))[-1]

    def test_the_indexed_job_trains(self):
        spec = self.manifest("indexed-job.yaml")["spec"]
        container = spec["template"]["spec"]["containers"][0]
        # In a pod, /etc/hosts has the coordinator's address.
        env = variables_of(container, {}) | {"KUBERNETES_SERVICE_HOST": "10.0.0.1",
                                             "COXSWAIN_ADDRESS": f"127.0.0.1:{free_port()}"}
        self.assert_trained([self.container(container["command"],
                                            env | {"JOB_COMPLETION_INDEX": str(task)})
                             for task in range(spec["completions"])], spec["completions"])

    def test_the_job_set_trains(self):
        job = self.manifest("jobset.yaml")["spec"]["replicatedJobs"][0]["template"]["spec"]
        container = job["template"]["spec"]["containers"][0]
        env = variables_of(container, {
            "metadata.labels['jobset.sigs.k8s.io/coordinator']": "127.0.84.76",
            "metadata.labels['jobset.sigs.k8s.io/restart-attempt']": "2"})
        env |= {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}
        self.assert_trained([self.container(container["command"],
                                            env | {"JOB_COMPLETION_INDEX": str(task)})
                             for task in range(job["completions"])], job["completions"])

    def test_the_aichor_command_trains(self):
        spec = self.manifest("aichor.yaml")["spec"]
        count = spec["types"]["Worker"]["count"]
        env = {"JAXOPERATOR_COORDINATOR_ADDRESS": f"127.0.0.1:{free_port()}",
               "JAXOPERATOR_COORDINATOR_HOST": "127.0.0.1", "JAXOPERATOR_NUM_PROCESSES": str(count)}
        self.assert_trained([self.container(shlex.split(spec["command"]),
                                            env | {"JAXOPERATOR_PROCESS_ID": str(task)})
                             for task in range(count)], count)

    def test_the_batch_script_trains(self):
        script = (DEPLOY / "job.sbatch").read_text()
        nodes, each = (int(number) for number in re.findall(r"--(?:nodes|ntasks-per-node)=(\d+)", script))
        line, = re.findall(r"^#   sbatch job\.sbatch (.*)", script, re.MULTILINE)
        srun = self.directory / "srun"
        srun.write_text(SRUN.format(tasks=nodes * each))
        srun.chmod(0o755)
        job = self.container(["bash", DEPLOY / "job.sbatch", *shlex.split(line)], {})
        self.assert_trained([job], nodes * each)


class Units(EndToEnd):

    def exec_start(self):
        line, = re.findall(r"^ExecStart=(.*)$", (DEPLOY / "coxswain@.service").read_text(), re.M)
        return [word.replace("%i", "night").replace("%t", str(self.directory))
                .replace("%S", str(self.directory)) for word in shlex.split(line)]

    def test_the_systemd_service_starts_reports_ready_and_continues_its_job(self):
        (self.directory / "coxswain-night").mkdir()
        (self.directory / "coxswain-night" / "token").write_text("pull\n")
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(str(self.directory / "notify"))
        manager.settimeout(LIMIT)
        program, *arguments = self.exec_start()

        def start():
            return self.start(pathlib.Path(program).name, *arguments, env={
                "NOTIFY_SOCKET": str(self.directory / "notify"), "COXSWAIN_NUM_TASKS": "2",
                "COXSWAIN_LISTEN": "127.0.0.1:0"})

        first = start()
        self.assertIn(b"READY=1\nSTATUS=job 'night' of 2 tasks", manager.recv(4096))
        first.signal(signal.SIGTERM)
        self.assertEqual(first.wait(), 0, first.output())
        start().line("the coordinator was restarted after", "err")

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_systemd_accepts_the_units(self):
        for name in ("coxswain@.service", "coxswain@.socket"):
            text = (DEPLOY / name).read_text().replace("/usr/bin/coxswain", str(BIN / "coxswain"))
            (self.directory / name).write_text(text)
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(self.directory / "coxswain@.socket"),
             str(self.directory / "coxswain@.service")], capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Scripts(unittest.TestCase):

    def test_the_batch_script_is_valid(self):
        text = (DEPLOY / "job.sbatch").read_text()
        subprocess.run(["bash", "-n", DEPLOY / "job.sbatch"], check=True)
        # Slurm reads no settings after the first command.
        self.assertLess(text.rindex("#SBATCH"), text.index("\nset "))


class Image(EndToEnd):

    def test_the_image_has_the_self_contained_program(self):
        text = (DEPLOY / "Dockerfile").read_text()
        build, image = text.split("\nFROM busybox:1.37-glibc\n")
        self.assertIn("-DCOXSWAIN_SELF_CONTAINED=ON", build)
        self.assertTrue(build.rstrip().endswith("--component program --prefix /image/usr"))
        self.assertIn("COPY --from=build /image /\nUSER nobody\n", image)
        check, = re.findall(r"^HEALTHCHECK CMD (.*)$", image, re.MULTILINE)
        self.serve(1)
        check = check.replace("127.0.0.1:8476", self.at["COXSWAIN_ADDRESS"])
        self.succeed(*json.loads(check)[1:])


class Observability(EndToEnd):
    """The files for Prometheus and Grafana."""

    DIRECTORY = DEPLOY / "observability"

    def test_every_named_metric_exists(self):
        coordinator = self.serve(1, "--http", "0", "--journal", self.directory / "journal")
        _, text = fetch(f"http://{coordinator.ready['http']}/metrics")
        families = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
        # Those of a job on etcd; e2e_standby sees them.
        families |= {f"coxswain_{name}" for name in
                     ("leader", "leader_known", "replication_lag_seconds", "standby_hot", "term")}
        # Those of an elastic job; metrics_test sees them.
        families |= {f"coxswain_{name}" for name in ("epoch", "epoch_ending", "epoch_ready")}

        dashboard = json.loads((self.DIRECTORY / "coxswain.dashboard.json").read_text())
        asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        asked.append(dashboard["templating"]["list"][1]["query"])
        asked.append((self.DIRECTORY / "coxswain.rules.yml").read_text())
        named = {name for text in asked
                 for name in re.findall(r"\b((?:coxswain|process)_[a-z_]+)\b", text)}

        self.assertGreater(len(named), 20)
        for name in sorted(named):
            self.assertIn(re.sub("_(bucket|sum|count)$", "", name), families)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_the_alert_rules_fire_as_expected(self):
        shutil.copytree(self.DIRECTORY, self.directory / "rules")
        token = "/etc/prometheus/coxswain-reader-token"
        scrape = self.directory / "rules" / "prometheus.yml"
        scrape.write_text(scrape.read_text().replace(token, "prometheus.yml"))
        for arguments in (("check", "rules", "coxswain.rules.yml"),
                          ("check", "config", "prometheus.yml"),
                          ("test", "rules", "coxswain.rules.test.yml")):
            done = subprocess.run(["promtool", *arguments], cwd=self.directory / "rules",
                                  capture_output=True, text=True, timeout=LIMIT)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(yaml, "python3-yaml is not installed")
    def test_each_rule_has_a_test(self):
        rules = yaml.safe_load((self.DIRECTORY / "coxswain.rules.yml").read_text())["groups"][0]["rules"]
        tests = (self.DIRECTORY / "coxswain.rules.test.yml").read_text()
        for rule in rules:
            self.assertIn(rule["alert"], tests)


if __name__ == "__main__":
    unittest.main()
