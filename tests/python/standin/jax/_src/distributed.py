class State:
    process_id = 0
    num_processes = 1
    service = None
    client = None
    preemption_sync_manager = None


global_state = State()
