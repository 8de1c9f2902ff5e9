"""The skeleton of a training loop: steps together, checkpoints, preemption, restarted tasks.

    coxswain serve -n 4 --recoverable --listen 127.0.0.1:8476 &
    for task in 0 1 2 3; do
      COXSWAIN_ADDRESS=127.0.0.1:8476 COXSWAIN_TASK_ID=$task python3 train.py /tmp/checkpoints &
    done
    kill -9 %3                      # the others wait for its next process
    coxswain preempt 1              # all save the same step and end
"""

import json
import pathlib
import sys

import coxswain

STEPS, SAVE_EVERY = 400, 10


def load(directory, task):
    """The step of the last checkpoint saved by all tasks, and this task's weight in it."""
    latest = directory / "latest"
    if not latest.exists():
        return 0, 0.0
    step = int(latest.read_text())
    return step, float((directory / f"{step}.{task}").read_text())


def write(path, text):
    whole = path.with_suffix(".new")
    whole.write_text(text)
    whole.replace(path)


def train(job, directory):
    step, weight = load(directory, job.task)
    while True:
        stop = step == STEPS or job.reached_sync_point(step)
        if stop or step % SAVE_EVERY == 0:
            (directory / f"{step}.{job.task}").write_text(repr(weight))
        gradient = 1 / (1 + step + job.task)  # the work

        # A task that contributes a step has saved it, so this is also the checkpoint's barrier. It
        # waits for a task that dies; its next process contributes the step from which it continues.
        gathered = job.all_gather("step", json.dumps([step, stop, gradient]), timeout=600)
        steps, stops, gradients = zip(*map(json.loads, gathered))
        if len(set(steps)) > 1:
            step, weight = load(directory, job.task)  # a task was restarted: all go back
            continue

        if job.task == 0 and (stop or step % SAVE_EVERY == 0):
            write(directory / "latest", str(step))
        job.report_progress(step)
        if any(stops):
            return step, weight
        weight += sum(gradients) / len(gradients)
        step += 1


def main():
    directory = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "checkpoints")
    directory.mkdir(exist_ok=True)
    with coxswain.Client.from_environment(recoverable=True) as job:
        job.on_failure(lambda error: print(f"the job has failed: {error}", file=sys.stderr))
        print("joined", flush=True)
        step, weight = train(job, directory)
        print(f"stopped after {step} steps with weight {weight:.9f}")


if __name__ == "__main__":
    main()
