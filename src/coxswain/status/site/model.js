// What the page knows of the job: the feed's messages, put together. No document.

// The order is that of the legend; a task is shown in exactly one of these.
const STATES = [
  {name: 'connected', text: 'connected'},
  {name: 'waiting', text: 'waiting'},
  {name: 'missing', text: 'missing'},
  {name: 'stalled', text: 'no progress'},
  {name: 'suspect', text: 'suspect'},
  {name: 'failed', text: 'failed'},
  {name: 'ended', text: 'ended with the job'},
  {name: 'joining', text: 'joining'},
  {name: 'returning', text: 'returning'},
  {name: 'left', text: 'left'},
  {name: 'never', text: 'never connected'},
];
const STATE_NUMBER = Object.fromEntries(STATES.map((state, number) => [state.name, number]));

// Worst first: a host is shown as its worst task.
const TROUBLES = ['failed', 'suspect', 'missing', 'stalled'];
const CALM = ['never', 'returning', 'joining', 'waiting', 'connected', 'ended', 'left'];
const BY_CONCERN = [...TROUBLES, ...CALM].map((name) => STATE_NUMBER[name]);

const ROUNDS_KEPT = 4096;
const EVENTS_KEPT = 500; // of each severity
const STRAGGLERS_OF = 256;

// The kinds of waits that are for other tasks, and the kind of the open barrier that each is at.
const MEETINGS = {
  barrier: 'tasks',
  count_barrier: 'count',
  join: 'join',
  leave: 'leave',
  topology: 'topology',
  alive: null,
  preemption: null,
};

// What is waited for, by the kind of the wait.
const WAIT_KINDS = {
  barrier: ({name, round}) => `barrier ‘${name}’ round ${round}`,
  count_barrier: ({name}) => `count barrier ‘${name}’`,
  join: () => 'the join',
  leave: () => 'the shutdown barrier',
  topology: ({name}) => `topology exchange ‘${name}’`,
  alive: () => 'an alive query',
  preemption: () => 'a step to stop at',
  get: ({name}) => `key ‘${name}’`,
  get_all: ({name}) => `key ‘${name}’ and perhaps others`,
  pop: ({name}) => `an item of queue ‘${name}’`,
  lock: ({name}) => `lock ‘${name}’`,
};

function textOfWait(wait) {
  return WAIT_KINDS[wait.kind]?.(wait) ?? `${wait.kind} ‘${wait.name}’`;
}

function textOfLease({queue, item, holder, redeliveries}) {
  const times = redeliveries > 0 ? `, redelivered ${plural(redeliveries, 'time')}` : '';
  return `item ${item} of queue ‘${queue}’: ${holder}${times}`;
}

// The things of `added` after those of `kept`, each number once, at most `limit`.
function appended(kept, added, limit) {
  const last = kept.length > 0 ? kept[kept.length - 1].number : -1;
  return [...kept, ...added.filter((one) => one.number > last)].slice(-limit);
}

// The same for events. One that stands for several replaces theirs.
function withEvents(kept, added) {
  const last = kept.length > 0 ? kept[kept.length - 1].number : -1;
  const fresh = added.filter((one) => one.number > last);
  const replaced = new Set(fresh.filter(({count}) => count > 1).map(({first}) => first));
  const all = [...kept.filter(({first}) => !replaced.has(first)), ...fresh];
  const left = {};
  for (const {severity} of all) left[severity] = (left[severity] ?? 0) + 1;
  return all.filter(({severity}) => left[severity]-- <= EVENTS_KEPT);
}

class Job {
  constructor() {
    this.facts = null; // the parts of the state that are not lists; null: none received yet
    this.tasks = [];
    this.shown = new Uint8Array(0); // of each task, the number of its state
    this.barriers = [];
    this.barriersMore = 0;
    this.rounds = [];
    this.steps = []; // when the slowest task had reported which step
    this.events = [];
    this.hosts = []; // {name, tasks}, in the order of their first tasks; name null: not known
    this.relays = [];
    this.why = {stuck: null, waits: [], more: 0};
    this.address = ''; // of the coordinator
    this.clock = null; // an event, whose time of day and uptime are known; null: there was none
    this.receivedAt = {facts: 0, why: 0};
  }

  // Takes a message of the feed; `now` is any clock in milliseconds.
  apply(message, now) {
    if (message.type === 'state') {
      this.replace(message, now);
    } else if (message.type === 'update' && this.facts) {
      this.update(message, now);
    }
  }

  replace({state, why, events, recorded, address}, now) {
    if (recorded || this.facts?.coordinator !== state.coordinator) {
      this.rounds = [];
      this.steps = [];
      this.events = [];
      this.clock = recorded ? {time: recorded.started, at_ms: 0} : null;
    }
    this.address = address ?? '';
    const {tasks, barriers, barriers_more, rounds, relays, ...facts} = state;
    this.tasks = [];
    const lists = {tasks, barriers, barriers_more, rounds, relays, why, events};
    this.take({summary: facts, ...lists}, {}, now);
  }

  update(message, now) {
    this.take(message, this.facts, now);
  }

  take(message, facts, now) {
    this.facts = {...facts, ...message.summary};
    this.receivedAt.facts = now;
    let isElsewhere = this.tasks.length === 0;
    for (const task of message.tasks ?? []) {
      isElsewhere ||= this.tasks[task.task]?.process !== task.process;
      this.tasks[task.task] = {...task, receivedAt: now};
    }
    if (isElsewhere) this.findHosts();
    this.barriers = message.barriers ?? this.barriers;
    this.barriersMore = message.barriers_more ?? 0;
    this.relays = message.relays ?? this.relays;
    this.rounds = appended(this.rounds, message.rounds ?? [], ROUNDS_KEPT);
    this.noteStep();
    this.events = withEvents(this.events, message.events ?? []);
    this.clock ??= this.events[0] ?? null;
    if (message.why) {
      this.why = message.why;
      this.receivedAt.why = now;
    }
    this.look(now);
  }

  noteStep() {
    const step = this.progress()?.lowest.step;
    const last = this.steps[this.steps.length - 1]?.step ?? -1;
    if (step === undefined || step === last) return;
    const kept = step > last ? this.steps : []; // a restart counts from its own beginning
    this.steps = [...kept, {at_ms: this.facts.uptime_ms, step}].slice(-ROUNDS_KEPT);
  }

  findHosts() {
    const byName = new Map();
    this.tasks.forEach((task, number) => {
      const name = hostOf(task);
      if (!byName.has(name)) byName.set(name, {name, tasks: []});
      byName.get(name).tasks.push(number);
    });
    const unknown = byName.get(null);
    byName.delete(null);
    this.hosts = [...byName.values(), ...(unknown ? [unknown] : [])];
  }

  // Decides what each task is shown as.
  look(now) {
    this.shown = new Uint8Array(this.tasks.length);
    this.tasks.forEach((task, number) => {
      this.shown[number] = STATE_NUMBER[stateOf(task)];
    });
    for (const wait of this.why.waits.filter(({kind}) => kind in MEETINGS)) {
      this.mark(wait.waiting, ['connected'], 'waiting');
    }
    this.tasks.forEach((task, number) => {
      const isStalled = task.no_progress && this.shown[number] === STATE_NUMBER.connected;
      if (isStalled) this.shown[number] = STATE_NUMBER.stalled;
    });
    for (const {missing} of this.overdue(now)) {
      this.mark(missing, ['connected', 'waiting', 'stalled', 'never'], 'missing');
    }
  }

  // Those of the ranges that are shown as one of these states become another.
  mark(ranges, from, to) {
    const states = from.map((name) => STATE_NUMBER[name]);
    for (const [first, last] of rangesOf(ranges)) {
      for (let number = first; number <= last && number < this.shown.length; ++number) {
        if (states.includes(this.shown[number])) this.shown[number] = STATE_NUMBER[to];
      }
    }
  }

  // The open barriers at which tasks are missing. In the first moments of a round most tasks are
  // still on their way: the coordinator decides how long.
  overdue(now) {
    const since = now - this.receivedAt.facts;
    return this.barriers.filter(
      ({missing, age_ms: age, missing_after_ms: limit}) => missing && age + since >= limit,
    );
  }

  // Who waits for what: the waits, each with its open barrier if it is at one, and the barriers
  // that are not among them. `age` and `remaining` are in milliseconds from now.
  waits(now) {
    const rest = new Set(this.barriers);
    const aged = ({age_ms: age, remaining_ms: remaining}, since) => ({
      age: age + since,
      remaining: remaining === null ? null : remaining - since,
    });
    const waits = this.why.waits.map((wait) => {
      const barrier = [...rest].find(
        ({kind, name}) => kind === MEETINGS[wait.kind] && name === wait.name,
      );
      rest.delete(barrier);
      const times = barrier
        ? aged(barrier, now - this.receivedAt.facts)
        : aged(wait, now - this.receivedAt.why);
      return {...wait, ...barrier, ...times, kind: wait.kind, barrier};
    });
    const kinds = Object.fromEntries(Object.entries(MEETINGS).map(([kind, at]) => [at, kind]));
    const others = [...rest].map((barrier) => ({
      ...barrier,
      ...aged(barrier, now - this.receivedAt.facts),
      kind: kinds[barrier.kind],
      barrier,
    }));
    return [...waits, ...others].sort((a, b) => Boolean(b.stuck) - Boolean(a.stuck));
  }

  // The state that a host is shown as, and how many of its tasks are in each.
  stateOfHost({tasks}) {
    const counts = this.counts(tasks);
    return {worst: BY_CONCERN.find((state) => counts[state] > 0), counts};
  }

  // Who came last in the rounds that we know: hosts, or tasks if no two share one. Most often last
  // first.
  stragglers() {
    const isByHost = this.isGrouped();
    const found = new Map();
    let of = 0;
    for (const {last_task: last, lag_ms: lag} of this.rounds.slice(-STRAGGLERS_OF)) {
      if (last === null || !this.tasks[last]) continue;
      ++of;
      const host = isByHost ? hostOf(this.tasks[last]) : null;
      const key = host ?? last;
      if (!found.has(key)) found.set(key, {host, tasks: new Set(), times: 0, sum: 0, longest: 0});
      const one = found.get(key);
      one.tasks.add(last);
      ++one.times;
      one.sum += lag;
      one.longest = Math.max(one.longest, lag);
    }
    const all = [...found.values()].sort((a, b) => b.times - a.times || b.sum - a.sum);
    return {all, of};
  }

  // Whether grouping by host says anything.
  isGrouped() {
    return this.hosts.length > 1 && this.hosts.length < this.tasks.length;
  }

  // How many tasks are shown as each state; of all, or of these.
  counts(tasks = this.shown.keys()) {
    const counts = new Array(STATES.length).fill(0);
    for (const number of tasks) ++counts[this.shown[number]];
    return counts;
  }

  // The steps that were reported; null: none was.
  progress() {
    let [lowest, highest, reported] = [null, null, 0];
    for (const task of this.tasks) {
      if (task.step === null) continue;
      ++reported;
      if (lowest === null || task.step < lowest.step) lowest = task;
      if (highest === null || task.step > highest.step) highest = task;
    }
    return reported > 0 ? {lowest, highest, reported} : null;
  }

  waitsOf(number) {
    return this.why.waits.filter((wait) => isWithin(rangesOf(wait.waiting), number));
  }

  // The coordinator's time of day at an uptime, "03:12:07"; before any event, its uptime.
  timeOfDay(ms) {
    if (!this.clock) return textOfClock(ms);
    return clockAt(this.clock.time, ms - this.clock.at_ms).slice(11);
  }

  // How long the job has been as it is, in milliseconds; null: that is not known.
  lasting(now) {
    if (!this.facts.since || !this.clock) return null;
    const began = Date.parse(this.facts.since) - Date.parse(this.clock.time) + this.clock.at_ms;
    return this.uptime(now) - began;
  }

  uptime(now) {
    return this.facts.uptime_ms + (now - this.receivedAt.facts);
  }

  // How many rounds have ended, whether or not we have seen them.
  roundsEnded() {
    return this.rounds.length > 0 ? this.rounds[this.rounds.length - 1].number : 0;
  }
}

// "b12" of "b12:3391" or "jax 0.10, b12:3391"; null: it has sent none.
function hostOf({process}) {
  return process ? process.replace(/^jax [^,]*, /, '').replace(/:[^:]*$/, '') : null;
}

function stateOf(task) {
  if (task.ended_with_job) return 'ended';
  if (['failed', 'left', 'returning'].includes(task.state)) return task.state;
  if (task.suspect) return 'suspect';
  if (task.state === 'connected') return 'connected';
  return task.state === 'joining' ? 'joining' : 'never';
}
