"""What the tests of the address for JAX programs have in common: a real `coxswain serve` and agents that end
with the test. Where gRPC is not installed they are skipped, with the reason.
"""

import contextlib
import pathlib
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

try:
    import grpc
except ImportError as problem:
    print(f"skipped: {problem}; tools/install_dependencies --all installs python3-grpcio")
    sys.exit(77)

from jax_agent import Agent, Failure, channel_to  # noqa: E402
from programs import LIMIT, SLOWNESS, EndToEnd  # noqa: E402

GENERATIONS = (2, 3)


class WithAgents(EndToEnd):

    def agent(self, task, generation=3, *, address=None, **how):
        made = Agent(address or self.coordinator.addresses[0], task, generation=generation, **how)
        self.addCleanup(made.close)
        return made

    def job(self, tasks, *arguments, generation=3, share=False, **how):
        """A coordinator, and a connected agent for each task."""
        self.coordinator = self.serve(tasks, *arguments)
        generations = generation if isinstance(generation, tuple) else (generation,) * tasks
        channel = None
        if share:
            channel = channel_to(self.coordinator.addresses[0])
            self.addCleanup(channel.close)
        agents = [self.agent(task, generations[task], channel=channel, **how) for task in range(tasks)]
        self.all(agents, Agent.connect)
        return agents

    def all(self, agents, act):
        """All agents do it concurrently. Returns results or exceptions."""
        results = [None] * len(agents)

        def run(place, agent):
            try:
                results[place] = act(agent)
            except Exception as problem:
                results[place] = problem

        threads = [threading.Thread(target=run, args=pair) for pair in enumerate(agents)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT)
            self.assertFalse(thread.is_alive(), "somebody still waits")
        return results

    def all_succeed(self, agents, act):
        results = self.all(agents, act)
        for result in results:
            self.assertNotIsInstance(result, Exception, result)
        return results

    @contextlib.contextmanager
    def fails(self, code, *words):
        """Expects the body to fail with this status, whose text has these words; yields the failure."""
        caught = []
        try:
            yield caught
        except Failure as problem:
            caught.append(problem)
        self.assertTrue(caught, f"it should have failed with {code}")
        self.assertEqual(caught[0].code, code, caught[0])
        for word in words:
            self.assertIn(word, caught[0].text)

    def outcome(self, call, limit=LIMIT):
        """The failure of a call that must fail."""
        agent = Agent.__new__(Agent)
        agent.task = "?"
        try:
            agent.result_of(call, limit)
        except Failure as problem:
            return problem
        raise AssertionError("the call has succeeded")

    def waits(self, call, seconds=0.2):
        """Expects that a call is not answered for a while."""
        time.sleep(seconds)
        self.assertFalse(call.done(), "it should still wait")

    def wait_for_state(self, task, state):
        return self.wait_for_status(f"task {task} {state}", lambda s: s["tasks"][task]["state"] == state)

    def wait_for_arrivals(self, barrier, count):
        return self.wait_for_status(f"{count} at {barrier}", lambda s: any(
            b["name"] == barrier and b["arrived"] == count for b in s["barriers"]))


__all__ = ["Agent", "Failure", "GENERATIONS", "LIMIT", "SLOWNESS", "WithAgents", "channel_to", "grpc"]
