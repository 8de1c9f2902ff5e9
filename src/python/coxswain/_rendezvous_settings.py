"""What torchrun's command line says to the rendezvous handler. Imports no torch."""

from __future__ import annotations

import difflib
import logging
import os
import pathlib
import re
import socket

_log = logging.getLogger("coxswain")

SETTINGS = {
    "member": "names this node for its next process, which gets its rank back; default: that of "
              "SLURM_NODEID or JOB_COMPLETION_INDEX, else host name and process id",
    "placement": "where it runs, from the largest unit to the smallest, as pod/rack/host",
    "local_addr": "the address of this node for the others; from torch 2.0 on torchrun's own "
                  "option --local-addr; default: the address that the coordinator sees",
    "join_timeout": "seconds to wait until there are enough nodes; default 600",
    "close_timeout": "seconds to wait for the others to end; default 30",
    "min_epoch": "seconds from the start of an epoch until workers are stopped for a new node; "
                 "default 30",
    "grow": "now: workers are stopped when a node joins; boundary: they go on until they end or "
            "restart; default now",
    "on_failure": "close: a node whose restarts are used up ends the job; shrink: the others go "
                  "on; default close",
    "token_file": "a file with the token; default: COXSWAIN_TOKEN",
    "tls_ca": "the file of the CA that has signed the coordinator's certificate",
    "tls_cert": "the file of this node's certificate",
    "tls_key": "the file of its key",
}

# c10d's own; ours are options of the coordinator, or have no meaning here.
_OF_OTHERS = {
    "last_call_timeout": "it is the coordinator's --last-call",
    "read_timeout": "gets from the store wait for 300 s",
    "timeout": "it is join_timeout",
}


class Settings:
    """The options of one node, from torchrun's parameters."""

    def __init__(self, parameters):
        conf = {name: one for name, one in parameters.config.items() if one is not None}
        for name in conf:
            _check_name(name)
        for name, why in _OF_OTHERS.items():
            if name in conf and name != "timeout":  # which torch always adds
                _log.info("--rdzv-conf %s is ignored: %s", name, why)
        is_name = re.fullmatch(r"[A-Za-z0-9._-]{1,64}", parameters.run_id)
        if parameters.run_id == "none" or not is_name:
            raise ValueError(
                f"--rdzv-id={parameters.run_id}: give the name of the job at the coordinator "
                "(coxswain serve --job NAME), of letters, digits, '.', '_' and '-'")
        if not parameters.endpoint:
            raise ValueError("--rdzv-endpoint: give the coordinator's address, HOST:PORT")
        self.job = parameters.run_id
        self.address = parameters.endpoint
        self.min_nodes = parameters.min_nodes
        self.max_nodes = parameters.max_nodes
        self.local_addr = conf.get("local_addr") or getattr(parameters, "local_addr", None)
        # In texts of the coordinator a node has its name, or, without one, host and process id.
        self.label = conf.get("member") or _member_of_scheduler()
        self.member = self.label or f"{self.local_addr or socket.getfqdn()}/{os.getpid()}"
        self.placement = [part for part in conf.get("placement", "").split("/") if part]
        self.join_timeout = float(conf.get("join_timeout", 600))
        self.close_timeout = float(conf.get("close_timeout", 30))
        self.min_epoch = float(conf.get("min_epoch", 30))
        self.grows_now = _one_of(conf, "grow", ("now", "boundary")) == "now"
        self.closes = _one_of(conf, "on_failure", ("close", "shrink")) == "close"
        self.security = {one: conf[one] for one in ("tls_ca", "tls_cert", "tls_key") if one in conf}
        if "token_file" in conf:
            token = pathlib.Path(conf["token_file"]).read_text(encoding="utf-8")
            self.security["token"] = token.strip()


def _check_name(name):
    if name in SETTINGS or name in _OF_OTHERS:
        return
    like = difflib.get_close_matches(name, SETTINGS, 1)
    hint = f"; is {like[0]} meant?" if like else f"; there are: {', '.join(SETTINGS)}"
    raise ValueError(f"--rdzv-conf has no key {name}{hint}")


def _one_of(conf, name, values):
    value = conf.get(name, values[0])
    if value not in values:
        raise ValueError(f"--rdzv-conf {name}={value}: it is {' or '.join(values)}")
    return value


def _member_of_scheduler():
    """The same for each process of a node that a scheduler has numbered."""
    for name in ("SLURM_NODEID", "JOB_COMPLETION_INDEX"):
        if name in os.environ:
            return f"node/{os.environ[name]}"
    return None
