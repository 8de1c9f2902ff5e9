"""torchrun with Coxswain's membership: nodes may die, join and be replaced while the job goes on.

    coxswain serve --elastic --min-tasks 2 --num-tasks 4 --job train --listen :8476
    torchrun --nnodes=2:4 --max-restarts=1000 --rdzv-backend=coxswain --rdzv-endpoint=head:8476 \\
        --rdzv-id=train train.py          # on each node; torch 2.5 or later finds the package

Earlier ones: ``coxswain-torchrun``, or ``python3 -m coxswain.torchrun``, with the same arguments.

One torchrun is one member of the job. When one is lost the others stop their workers at once and
start them again with the ranks of the next epoch, without counting a restart. Survivors keep their
ranks. ``--rdzv-endpoint`` is a list of addresses, as ``COXSWAIN_ADDRESS``; ``--rdzv-id`` is the
job's name at the coordinator; ``--rdzv-conf`` takes the keys of ``SETTINGS``.
"""

from __future__ import annotations

from coxswain._rendezvous_settings import SETTINGS

__all__ = ["SETTINGS", "get_handler_creator"]


def get_handler_creator():
    """The entry point ``torchrun.handlers``: every torchrun of the machine calls it, so it imports
    nothing."""
    return _create_handler


def _create_handler(parameters):
    from coxswain._rendezvous import Rendezvous
    return Rendezvous(parameters)
