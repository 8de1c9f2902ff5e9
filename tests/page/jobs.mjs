// Jobs as the feed describes them, for tests and screenshots. Deterministic.

// A small generator of numbers from 0 to 1 (mulberry32), so that all runs are equal.
export function chances(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function task(number, changes = {}) {
  const host = `b${String(Math.floor(number / 8)).padStart(3, '0')}`;
  return {
    task: number,
    state: 'connected',
    suspect: false,
    incarnation: (0x9254f2126c0c044an + BigInt(number)).toString(16),
    last_heard_ms: 120,
    process: `${host}:${3300 + (number % 8)}`,
    peer: `10.0.${Math.floor(number / 2048)}.${Math.floor(number / 8) % 256}:${40000 + number}`,
    error: null,
    recoverable: false,
    step: 4180,
    step_age_ms: 900,
    no_progress: false,
    returns_by: null,
    ...changes,
  };
}

export function barrier(changes = {}) {
  return {
    name: 'step',
    kind: 'tasks',
    round: 418,
    arrived: 3,
    expected: 4,
    missing: '2',
    missing_cut: 0,
    missing_after_ms: 2000,
    age_ms: 1900,
    remaining_ms: 58100,
    ...changes,
  };
}

export function wait(changes = {}) {
  return {
    kind: 'barrier',
    name: 'step',
    stuck: false,
    waiting: '0-1,3',
    waiting_cut: 0,
    others: 0,
    age_ms: 1900,
    remaining_ms: 58100,
    round: 418,
    arrived: 3,
    expected: 4,
    missing: '2',
    missing_cut: 0,
    known: [],
    ...changes,
  };
}

export function known(number, changes = {}) {
  return {
    task: number,
    state: 'connected',
    suspect: false,
    last_heard_ms: 400,
    process: task(number).process,
    waits_for: '',
    step: 4179,
    ...changes,
  };
}

export function event(number, text, changes = {}) {
  return {
    number,
    time: new Date(Date.UTC(2026, 10, 23, 14, 3, 7) + number * 1370)
      .toISOString()
      .replace('Z', '+00:00'),
    at_ms: number * 1370,
    severity: 'info',
    kind: 'other',
    task: null,
    tasks: null,
    tasks_cut: 0,
    barrier: null,
    text,
    count: 1,
    first: number,
    first_at_ms: number * 1370,
    ...changes,
  };
}

export function round(number, changes = {}) {
  return {
    number,
    name: 'step',
    round: number,
    at_ms: number * 2000,
    tasks: 4,
    outcome: 'OK',
    spread_ms: 12,
    lag_ms: 3,
    last_task: 0,
    ...changes,
  };
}

// Rounds with a varying spread, and an occasional slow one; the last one ends at `end`.
export function manyRounds(count, tasks, {seed = 7, end = 835000} = {}) {
  const chance = chances(seed);
  return Array.from({length: count}, (_, place) => {
    const slow = chance() < 0.04 ? 30 : 1;
    const spread = (4 + 3 * Math.sin(place / 17)) * (0.6 + chance()) * slow;
    const isCheckpoint = place % 25 === 24;
    return round(place + 1, {
      at_ms: end - (count - place - 1) * 2000 - (slow > 1 ? 0 : spread * 20),
      name: isCheckpoint ? 'checkpoint' : 'step',
      round: isCheckpoint ? (place + 1) / 25 : place + 1,
      tasks,
      spread_ms: isCheckpoint ? spread * 60 : spread,
      lag_ms: spread * (0.5 + chance() * 0.5),
      last_task: Math.floor(chance() * chance() * tasks),
    });
  });
}

// The first message of a feed. `changes` are of the state; `beside` of the message.
export function job(count, changes = {}, beside = {}) {
  return {
    type: 'state',
    address: 'b12:8476',
    state: {
      job: 'train-7b',
      headline: 'Running (30 steps per minute)',
      state: 'running',
      since: '2026-11-23T14:03:09.370+00:00',
      state_tasks: '',
      state_tasks_cut: 0,
      num_tasks: count,
      coordinator: '53a2aa1f0eb1b769',
      version: '0.1.0',
      uptime_ms: 836000,
      error: null,
      tasks: Array.from({length: count}, (_, number) => task(number)),
      barriers: [],
      keys: 1208,
      key_bytes: 3410000,
      sessions: count,
      waiting_gets: 0,
      queued_items: 0,
      waiting_pops: 0,
      waiting_key_watches: 0,
      leased_items: 0,
      leases: [],
      locks_held: 0,
      waiting_locks: 0,
      spares_waiting: 0,
      relays: [],
      relays_more: 0,
      memory_bytes: 4900000,
      memory_bytes_max: 12638251008,
      deadlines_answered: 12,
      lateness_p99_ms: 0.41,
      lateness_max_ms: 1.2,
      rounds: [],
      ...changes,
    },
    why: {stuck: null, waits: [], more: 0},
    events: [],
    ...beside,
  };
}

export function update(changes = {}) {
  return {
    type: 'update',
    summary: {},
    tasks: [],
    barriers: [],
    barriers_more: 0,
    rounds: [],
    events: [],
    ...changes,
  };
}

const joined = (count) => [
  event(1, `task 0 (b000:3300) from 10.0.0.0:40000 is joining (1 of ${count} tasks)`,
        {task: 0}),
  event(2, `all ${count} tasks have joined`, {kind: 'joined'}),
];

// The coordinator's replies to an operator who browses its keys.
export const answers = {
  role: [200, {role: 'operator'}],
  stacks: [
    200,
    {
      ...{number: 7, complete: true, age_ms: 900, wanted: 2, more: 0},
      groups: [
        {
          ...{tasks: '17,93', tasks_cut: 0, count: 2, missing_for_ms: 12400, is_taken: true},
          stack: Array.from({length: 30}, (_, at) => `f${at} (train.py:${at})`).join('\n'),
          rest: 'thread 2: sleeps',
        },
      ],
    },
  ],
  'keys?prefix=&limit=100': [
    200,
    {
      keys: Array.from({length: 100}, (_, number) => ({
        key: `address/${number}`,
        version: 12 + number,
        bytes: 14,
      })),
      version: 9210,
      more: true,
    },
  ],
};

// One task, a host, and the missing tasks.
const LARGE_MISSING = '17,4032-4039,9960-9999';

// Whole scenes, by name.
export const scenes = {
  four() {
    const rounds = manyRounds(40, 4);
    const message = job(
      4,
      {
        barriers: [barrier()],
        rounds,
      },
      {events: joined(4)},
    );
    message.why.waits = [wait({known: [known(2)]})];
    return message;
  },

  // What somebody sees who is woken at three in the morning.
  eight() {
    const waits = {
      ...{arrived: 7, expected: 8, missing: '5', age_ms: 9400, remaining_ms: 590600},
      round: 1180,
    };
    const message = job(
      8,
      {
        headline:
          "Waiting for task 5: 7 of 8 have been at barrier 'step' for 9 s (times out in 9:50)",
        state: 'waiting',
        since: '2026-11-24T03:12:07.100+00:00',
        state_tasks: '5',
        barriers: [barrier(waits)],
        rounds: manyRounds(240, 8, {end: 826000}),
        keys: 42,
        key_bytes: 6200,
      },
      {events: joined(8)},
    );
    message.state.tasks.forEach((one, number) => {
      one.process = `b${12 + Math.floor(number / 2)}:${1410 + number}`;
      one.step = number === 5 ? 1179 : 1180;
    });
    message.events.push(
      event(3, "barrier 'step' round 1180 waits for 5 s; 1 of 8 tasks is missing: 5 (connected)", {
        severity: 'warning',
        kind: 'waiting',
        barrier: 'step',
      }),
    );
    message.events.forEach((one, place) => {
      one.time = `2026-11-24T${['02:58:20.412', '02:58:21.650', '03:12:12.104'][place]}+00:00`;
      one.at_ms = [0, 1238, 831692][place];
    });
    const missing = known(5, {
      ...{process: 'b14:1415', step: 1179, answers: true, unanswered_ms: null},
      ...{last_call: "put 'loss/5'", last_call_at: '2026-11-24T03:12:06.000+00:00'},
    });
    message.why.waits = [wait({...waits, waiting: '0-4,6-7', known: [missing]})];
    return message;
  },

  working() {
    const count = 200;
    const rounds = manyRounds(240, count, {end: 823000});
    const waiting = '0-16,18-92,94-199';
    const message = job(
      count,
      {
        barriers: [
          barrier({
            arrived: 198,
            expected: count,
            missing: '17,93',
            age_ms: 12400,
            remaining_ms: 17600,
          }),
        ],
        rounds,
        waiting_gets: 1,
      },
      {
        events: [
          ...joined(count),
          event(3, 'task 93 (b011:3305) is suspect: its connection was lost', {
            severity: 'warning',
            kind: 'suspect',
            task: 93,
            at_ms: 829000,
          }),
          event(
            4,
            'barrier ‘step’ round 418 waits for 10 s; 2 of 200 tasks are missing: ' +
              '17 (connected, waits for key ‘address/0’), 93 (suspect)',
            {severity: 'warning', kind: 'waiting', barrier: 'step', at_ms: 834000},
          ),
        ],
      },
    );
    Object.assign(message.state.tasks[93], {suspect: true, last_heard_ms: 7200});
    Object.assign(message.state.tasks[17], {step: 4177, step_age_ms: 31000});
    Object.assign(message.state.tasks[140], {step: 4179, step_age_ms: 640000, no_progress: true});
    message.state.barriers[0].missing = '17,93,140';
    message.state.barriers[0].arrived = 197;
    Object.assign(message.state, {
      headline:
        "Waiting for tasks 17,93,140: 197 of 200 have been at barrier 'step' for 12 s " +
        '(times out in 17 s)',
      state: 'waiting',
      since: '2026-11-23T14:16:51.100+00:00',
      state_tasks: '17,93,140',
    });
    message.why.waits = [
      wait({
        waiting,
        arrived: 198,
        expected: count,
        missing: '17,93',
        age_ms: 12400,
        remaining_ms: 17600,
        known: [
          known(17, {waits_for: "key 'address/0'"}),
          known(93, {suspect: true, last_heard_ms: 7200}),
        ],
      }),
      {
        kind: 'get',
        name: 'address/0',
        stuck: false,
        waiting: '17',
        waiting_cut: 0,
        others: 1,
        age_ms: 12100,
        remaining_ms: 287900,
      },
    ];
    return message;
  },

  failed() {
    const message = scenes.working();
    const why = {code: 'ABORTED', message: 'the process was killed by signal 9 (SIGKILL)'};
    Object.assign(message.state.tasks[93], {state: 'failed', suspect: false, error: why});
    const later = [17, 40].map((number) => ({
      task: number,
      code: 'INTERNAL',
      message: 'exited with status 1',
    }));
    for (const {task: number, code, message: text} of later) {
      Object.assign(message.state.tasks[number], {
        ...{state: 'failed', ended_with_job: true, error: {code, message: text}},
      });
    }
    message.state.error = {cause: {task: 93, ...why}, later, later_count: later.length};
    Object.assign(message.state, {
      headline: 'Failed at 14:17:03: task 93 was killed by signal 9 (SIGKILL)',
      state: 'failed',
      since: '2026-11-23T14:17:03.000+00:00',
      state_tasks: '93',
    });
    message.state.uptime_ms = 1130000;
    message.state.barriers = [];
    message.state.rounds[239].outcome = 'INTERNAL';
    message.why.waits = [];
    message.events.push(
      event(
        5,
        'task 93 (b011:3305) failed: ABORTED: the process was killed by signal 9 (SIGKILL)',
        {severity: 'error', kind: 'failed', task: 93, at_ms: 836000},
      ),
      event(
        6,
        'the job has failed: task 93 (b011:3305) failed: ABORTED: the process was killed by ' +
          'signal 9 (SIGKILL)',
        {severity: 'error', kind: 'job_failed', task: 93, at_ms: 836000},
      ),
    );
    return message;
  },

  stuck() {
    const message = scenes.four();
    const stuck =
      "deadlock: tasks 0-1 are blocked on each other: task 0 waits at barrier 'a' for " +
      "task 1, task 1 waits at barrier 'b' for task 0; cancel a round or end a task";
    const at = (name, here, missing) => ({
      name,
      round: 1,
      arrived: 1,
      expected: 2,
      missing: String(missing),
      waiting: String(here),
      stuck: true,
      known: [known(missing, {waits_for: `barrier '${name === 'a' ? 'b' : 'a'}' round 1`})],
      age_ms: 64000,
      remaining_ms: 236000,
    });
    message.state.barriers = [
      ['a', 1],
      ['b', 0],
    ].map(([name, missing]) =>
      barrier({
        name,
        round: 1,
        arrived: 1,
        expected: 2,
        missing: String(missing),
        age_ms: 64000,
        remaining_ms: 236000,
      }),
    );
    Object.assign(message.state, {
      headline: stuck.replace('deadlock', 'Deadlock'),
      state: 'deadlock',
      state_tasks: '0-1',
    });
    message.why = {stuck, waits: [wait(at('a', 0, 1)), wait(at('b', 1, 0))], more: 0};
    message.events.push(event(3, stuck, {severity: 'warning', kind: 'stuck', at_ms: 830000}));
    return message;
  },

  empty() {
    const nobody = {
      state: 'never connected',
      incarnation: null,
      last_heard_ms: null,
      process: '',
      peer: '',
      step: null,
      step_age_ms: null,
    };
    return job(16, {
      headline: 'Nothing has joined 4 s after the start',
      state: 'not_started',
      state_tasks: '0-15',
      tasks: Array.from({length: 16}, (_, number) => task(number, nobody)),
      uptime_ms: 4000,
      keys: 0,
      key_bytes: 0,
      memory_bytes: 0,
      sessions: 0,
      lateness_p99_ms: 0,
    });
  },

  large() {
    const count = 10000;
    const rounds = manyRounds(256, count, {seed: 11, end: 823000});
    const message = job(
      count,
      {
        rounds,
        headline:
          `Waiting for tasks ${LARGE_MISSING}: 9951 of 10000 have been at barrier 'step' for ` +
          '12 s (times out in 58 s)',
        state: 'waiting',
        state_tasks: LARGE_MISSING,
        barriers: [
          barrier({arrived: 9951, expected: count, missing: LARGE_MISSING, age_ms: 12840}),
        ],
      },
      {events: joined(count)},
    );
    Object.assign(message.state.tasks[7342], {
      state: 'failed',
      error: {code: 'UNAVAILABLE', message: 'the connection of task 7342 was lost at 14:03:07.2'},
      recoverable: true,
    });
    Object.assign(message.state.tasks[2050], {suspect: true});
    for (let number = 9920; number < 9960; ++number) message.state.tasks[number].state = 'joining';
    for (let number = 9960; number < 10000; ++number)
      message.state.tasks[number].state = 'never connected';
    message.why.waits = [
      wait({
        waiting: '0-16,18-4031,4040-9959',
        arrived: 9951,
        expected: count,
        missing: LARGE_MISSING,
        known: [known(17)],
      }),
    ];
    return message;
  },

  // Hosts of a job whose slowest host is always last.
  slowHost() {
    const late = Array.from({length: 60}, (_, place) =>
      round(place + 1, {
        tasks: 16,
        spread_ms: 1504,
        lag_ms: 1500,
        last_task: 8 + ((place * 5) % 8),
      }),
    );
    return job(16, {
      headline: 'Slow: waits for b001 (tasks 8-15) 1.5 s of each 2 s step',
      state: 'slow',
      state_tasks: '8-15',
      rounds: late,
    });
  },

  two() {
    const rounds = manyRounds(30, 2);
    return job(2, {
      barriers: [barrier({arrived: 1, expected: 2, missing: '1', age_ms: 7000})],
      rounds,
    });
  },

  // Every state at once.
  states() {
    const message = job(16, {
      barriers: [barrier({arrived: 2, expected: 4, missing: '14', age_ms: 5000})],
    });
    const set = (number, changes) => Object.assign(message.state.tasks[number], changes);
    set(2, {state: 'joining'});
    set(3, {
      state: 'never connected',
      incarnation: null,
      last_heard_ms: null,
      process: '',
      peer: '',
    });
    set(4, {suspect: true});
    set(5, {state: 'failed', error: {code: 'INTERNAL', message: 'exited with status 1'}});
    set(6, {state: 'left'});
    set(7, {
      state: 'returning',
      recoverable: true,
      returns_by: '2026-11-23T14:13:07.212+01:00',
    });
    set(8, {state: 'failed', ended_with_job: true, error: {code: 'ABORTED', message: 'killed'}});
    set(15, {no_progress: true});
    message.why.waits = [wait({waiting: '1', missing: '14'})];
    return message;
  },
};
