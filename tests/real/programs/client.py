"""The methods of the distributed runtime's client that Orbax, Flax and MaxText call."""

import jax

from support import LIMIT_MS, client, failure_of

LARGE = 3 << 20


def directories(jax_client, name):
    for key in (f"{name}/c", f"{name}/b/2", f"{name}/b/1", name, f"{name} beside"):
        jax_client.key_value_set(key, key)
    below = [(key, key) for key in (f"{name}/b/1", f"{name}/b/2", f"{name}/c")]
    assert sorted(jax_client.key_value_dir_get(f"{name}/")) == below
    assert sorted(jax_client.key_value_dir_get(name)) == below
    jax_client.key_value_delete(name)
    assert jax_client.key_value_dir_get(name) == []
    assert "DEADLINE_EXCEEDED" in failure_of(jax_client.blocking_key_value_get, name, 200)
    assert jax_client.blocking_key_value_get(f"{name} beside", LIMIT_MS) == f"{name} beside"


def barriers(jax_client, me, count):
    for _ in range(3):
        jax_client.wait_at_barrier("again", LIMIT_MS)
    if me < 2:
        jax_client.wait_at_barrier("some", LIMIT_MS, process_ids=[0, 1])
    else:
        text = failure_of(lambda: jax_client.wait_at_barrier("some", LIMIT_MS, process_ids=[0, 1]))
        assert text.startswith(f"INVALID_ARGUMENT: A non-participating task ({me})"), text
    if me == 0:
        text = failure_of(jax_client.wait_at_barrier, "only 0", 200)
        assert text.startswith("DEADLINE_EXCEEDED: Barrier timed out"), text
        assert f"{count - 1} of {count} tasks are missing: 1 (connected" in text, text


def main():
    jax_client, me, count = client(), jax.process_index(), jax.process_count()
    other = (me + 1) % count

    jax_client.key_value_set(f"text/{me}", f"of {me}")
    assert jax_client.blocking_key_value_get(f"text/{other}", LIMIT_MS) == f"of {other}"
    jax_client.wait_at_barrier("all are set", LIMIT_MS)
    assert sorted(jax_client.key_value_dir_get("text/")) == [(f"text/{one}", f"of {one}") for one in range(count)]
    jax_client.wait_at_barrier("all are listed", LIMIT_MS)
    text = failure_of(jax_client.key_value_set, f"text/{me}", "again")
    assert text.startswith(f"ALREADY_EXISTS: key text/{me} already exists."), text
    jax_client.key_value_set(f"text/{me}", "again", allow_overwrite=True)
    assert jax_client.blocking_key_value_get(f"text/{me}", LIMIT_MS) == "again"
    assert "DEADLINE_EXCEEDED" in failure_of(jax_client.blocking_key_value_get, "never", 200)

    jax_client.key_value_set_bytes(f"bytes/{me}", b"\x00\xff%d" % me)
    assert jax_client.blocking_key_value_get_bytes(f"bytes/{other}", LIMIT_MS) == b"\x00\xff%d" % other
    jax_client.key_value_set(f"large/{me}", f"{me}" * LARGE)
    assert jax_client.blocking_key_value_get(f"large/{other}", LIMIT_MS) == f"{other}" * LARGE
    directories(jax_client, f"tree/{me}")
    barriers(jax_client, me, count)

    # Newer versions have these.
    if hasattr(jax_client, "key_value_try_get"):
        text = failure_of(jax_client.key_value_try_get, "a//b")
        assert text.startswith("NOT_FOUND: Config key a//b not found."), text
    if hasattr(jax_client, "key_value_increment"):
        # Older ones receive at most 4 MiB.
        jax_client.wait_at_barrier("all large ones are set", LIMIT_MS)
        large = [(f"large/{one}", f"{one}" * LARGE) for one in range(count)]
        assert sorted(jax_client.key_value_dir_get("large")) == large
        jax_client.key_value_increment("count", 2)
        jax_client.wait_at_barrier("all have added", LIMIT_MS)
        assert jax_client.key_value_try_get("count") == str(2 * count)
        assert jax_client.key_value_increment(f"count of {me}", -3) == -3
        assert jax_client.key_value_increment(f"count of {me}", 10) == 7
        assert "FAILED_PRECONDITION" in failure_of(jax_client.key_value_increment, f"text/{me}", 1)
    if hasattr(jax_client, "get_live_nodes"):
        assert sorted(jax_client.get_live_nodes(list(range(count)))) == list(range(count))

    jax_client.wait_at_barrier("all have read", LIMIT_MS)
    if me == 0:
        jax_client.key_value_delete("text/")
    jax_client.wait_at_barrier("deleted", LIMIT_MS)
    assert jax_client.key_value_dir_get("text/") == []
