from jax._src.distributed import initialize, is_initialized, shutdown
