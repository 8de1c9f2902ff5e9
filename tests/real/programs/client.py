"""The methods of the distributed runtime's client that Orbax, Flax and MaxText call."""

import jax

from support import LIMIT_MS, client, failure_of

LARGE = 3 << 20


def main():
    jax_client, me, count = client(), jax.process_index(), jax.process_count()
    other = (me + 1) % count

    jax_client.key_value_set(f"text/{me}", f"of {me}")
    assert jax_client.blocking_key_value_get(f"text/{other}", LIMIT_MS) == f"of {other}"
    jax_client.wait_at_barrier("all are set", LIMIT_MS)
    assert sorted(jax_client.key_value_dir_get("text/")) == [(f"text/{one}", f"of {one}") for one in range(count)]
    text = failure_of(jax_client.key_value_set, f"text/{me}", "again")
    assert text.startswith(f"ALREADY_EXISTS: key text/{me} already exists."), text
    assert "DEADLINE_EXCEEDED" in failure_of(jax_client.blocking_key_value_get, "never", 200)

    jax_client.key_value_set_bytes(f"bytes/{me}", b"\x00\xff%d" % me)
    assert jax_client.blocking_key_value_get_bytes(f"bytes/{other}", LIMIT_MS) == b"\x00\xff%d" % other
    jax_client.key_value_set(f"large/{me}", f"{me}" * LARGE)
    assert jax_client.blocking_key_value_get(f"large/{other}", LIMIT_MS) == f"{other}" * LARGE
    if me < 2:
        jax_client.wait_at_barrier("some", LIMIT_MS, process_ids=[0, 1])

    # Newer versions have these.
    if hasattr(jax_client, "key_value_try_get"):
        text = failure_of(jax_client.key_value_try_get, "a//b")
        assert text.startswith("NOT_FOUND: Config key a//b not found."), text
    if hasattr(jax_client, "key_value_increment"):
        jax_client.key_value_increment("count", 2)
        jax_client.wait_at_barrier("all have added", LIMIT_MS)
        assert jax_client.key_value_try_get("count") == str(2 * count)
    if hasattr(jax_client, "get_live_nodes"):
        assert sorted(jax_client.get_live_nodes(list(range(count)))) == list(range(count))

    if me == 0:
        assert "DEADLINE_EXCEEDED" in failure_of(jax_client.wait_at_barrier, "only 0", 200)
    jax_client.wait_at_barrier("all have read", LIMIT_MS)
    if me == 0:
        jax_client.key_value_delete("text/")
    jax_client.wait_at_barrier("deleted", LIMIT_MS)
    assert jax_client.key_value_dir_get("text/") == []
