"""The ring example: it loses members and continues."""

import re
import signal
import unittest

from programs import EndToEnd, SLOWNESS

TASKS = range(4)
ROUNDS_BEFORE, ROUNDS = 5, 20


class Ring(EndToEnd):

    def ring(self, lost, *arguments):
        """Four members that have completed the first rounds together. Those to be lost start no more,
        so the others wait for them within the next round."""
        self.serve(len(TASKS), *arguments)
        members = [self.start("coxswain-example-ring", "--rounds",
                              ROUNDS_BEFORE if task in lost else ROUNDS,
                              env=self.at | {"COXSWAIN_TASK_ID": str(task)}) for task in TASKS]
        for member in members:
            member.line(f"round {ROUNDS_BEFORE}: 10")
        return members

    def test_after_losses_the_others_continue(self):
        for lost, number, option in (
                ({1}, signal.SIGKILL, ("--reconnect-grace", "100ms")),
                ({0, 2}, signal.SIGKILL, ("--reconnect-grace", "100ms")),
                # Its sockets stay open.
                ({1}, signal.SIGSTOP, ("--heartbeat-timeout", f"{3 * SLOWNESS:.0f}s"))):
            with self.subTest(lost=lost, signal=number):
                members = self.ring(lost, *option)

                for task in lost:
                    members[task].signal(number)

                self.expect_the_others_to_go_on(members, lost)

    def expect_the_others_to_go_on(self, members, lost):
        left = [task for task in TASKS if task not in lost]
        sum_of_the_left = sum(task + 1 for task in left)
        for task in left:
            member = members[task]
            self.assertEqual(member.wait(), 0, member.output())
            sums = re.findall(r"round (\d+): (\d+)", member.out)
            self.assertEqual(
                [(int(number), int(total)) for number, total in sums],
                [(n, 10 if n <= ROUNDS_BEFORE else sum_of_the_left) for n in range(1, ROUNDS + 1)],
                member.output())
            for gone in lost:
                self.assertIn(f"task {gone} is lost", member.out)


class ElasticRing(EndToEnd):

    def test_the_ring_goes_on_after_losses_and_takes_in_a_member(self):
        self.serve(4, "--min-tasks", 2, "--last-call", "300ms",
                   "--reconnect-grace", "100ms")

        def member(number):
            return self.start("coxswain-example-elastic-ring", "--rounds", 200, "--pause-ms", 40,
                              env=self.at | {"COXSWAIN_MEMBER": f"m{number}"})

        members = [member(number) for number in range(4)]
        members[1].line(": 10")  # the sum of 1 to 4

        members[0].signal(signal.SIGKILL)
        members[3].signal(signal.SIGKILL)

        members[1].line(": 3")
        members.append(member(4))
        for number in (1, 2, 4):
            self.assertEqual(members[number].wait(), 0, members[number].output())
            self.assertIn("round 200: 6", members[number].out)


if __name__ == "__main__":
    unittest.main()
