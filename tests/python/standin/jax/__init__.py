"""Stands in for JAX, where its Python code asks for its distributed client: nothing else is here."""

from jax import errors
from jax._src import distributed as _distributed


def process_index():
    return _distributed.global_state.process_id


def process_count():
    return _distributed.global_state.num_processes
