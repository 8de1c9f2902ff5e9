"""torchrun, with ``--rdzv-backend=coxswain`` also before torch 2.5: see coxswain.torch_elastic."""

from __future__ import annotations


def main() -> None:
    from torch.distributed.elastic.rendezvous import rendezvous_handler_registry
    from torch.distributed.run import main as run

    from coxswain.torch_elastic import get_handler_creator
    try:
        rendezvous_handler_registry.register("coxswain", get_handler_creator())
    except ValueError:
        pass  # torch has found the package's entry point
    _mend_streams()
    run()


def _mend_streams() -> None:
    """Before torch 2.0, under Python 3.11 or later, ``--redirects`` and ``--tee`` cannot be zero,
    which is their default: iterating over a flag leaves zero out."""
    from torch.distributed.elastic.multiprocessing import Std
    if Std.from_str("0") is not None:
        return
    parse = Std.from_str

    def from_str(text):
        parsed = parse(text)
        if isinstance(parsed, dict):
            return {rank: Std.NONE if one is None else one for rank, one in parsed.items()}
        return Std.NONE if parsed is None else parsed

    Std.from_str = staticmethod(from_str)


if __name__ == "__main__":
    main()
