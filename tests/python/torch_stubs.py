"""As much of PyTorch as the rendezvous handler uses, for machines without it, and as of two versions."""

import enum
import sys
import types


class Version(enum.Enum):
    """What next_rendezvous returns."""
    TUPLE = "1.13"
    INFO = "2.4"


class Store:
    """torch.distributed.Store, whose other methods are all overridden."""

    def set_timeout(self, timeout):
        self.timeout = timeout


class TCPStore:
    """Listens nowhere; its port distinguishes it from others."""

    ports = iter(range(20000, 30000))

    def __init__(self, host, port, **_):
        self.port = next(self.ports)


def install(version):
    """Replaces torch by stubs of this version; returns the module of the rendezvous interface."""
    for name in [one for one in sys.modules if one == "torch" or one.startswith("torch.")]:
        del sys.modules[name]
    for name in ("coxswain._torch", "coxswain._rendezvous", "coxswain.torch_extension"):
        sys.modules.pop(name, None)
    names = ("torch", "torch.distributed", "torch.distributed.elastic", "torch.distributed.elastic.rendezvous",
             "torch.distributed.elastic.rendezvous.api")
    made = {name: types.ModuleType(name) for name in names}
    for name, module in made.items():
        sys.modules[name] = module
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(made[parent], last, module)
    made["torch.distributed"].Store = Store
    made["torch.distributed"].TCPStore = TCPStore
    api = made["torch.distributed.elastic.rendezvous.api"]
    api.RendezvousHandler = object
    for name in ("Closed", "Timeout", "Connection", "State"):
        setattr(api, f"Rendezvous{name}Error", type(f"Rendezvous{name}Error", (Exception,), {}))
    if version is Version.INFO:
        api.RendezvousInfo = lambda *fields: types.SimpleNamespace(
            **dict(zip(("store", "rank", "world_size", "bootstrap_store_info"), fields)))
        api.RendezvousStoreInfo = lambda address, port: types.SimpleNamespace(
            master_addr=address, master_port=port)
    return api


class Parameters:
    """RendezvousParameters."""

    def __init__(self, endpoint, run_id, min_nodes, max_nodes, **config):
        self.backend = "coxswain"
        self.endpoint = endpoint
        self.run_id = run_id
        self.min_nodes = min_nodes
        self.max_nodes = max_nodes
        self.config = {"timeout": 900, **config}
