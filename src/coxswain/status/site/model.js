// What the page knows of the job: the feed's messages, put together. No document.

// The order is that of the legend; a task is shown in exactly one of these.
const STATES = [
  {name: 'connected', text: 'connected'},
  {name: 'waiting', text: 'at a barrier'},
  {name: 'connecting', text: 'connecting'},
  {name: 'never', text: 'never connected'},
  {name: 'suspect', text: 'suspect'},
  {name: 'failed', text: 'failed'},
  {name: 'left', text: 'left'},
];
const STATE_NUMBER = Object.fromEntries(STATES.map((state, number) => [state.name, number]));

const ROUNDS_KEPT = 4096;
const EVENTS_KEPT = 1000;

// Waits that are for other tasks, in one way or the other; the others are for keys and items.
const MEETINGS = new Set([
  'barrier',
  'count_barrier',
  'join',
  'leave',
  'topology',
  'alive',
  'preemption',
]);

// What is said to wait with a name, by the kind of wait.
const WAIT_KINDS = {
  barrier: (wait) => `barrier ‘${wait.name}’ round ${wait.round}`,
  count_barrier: (wait) => `count barrier ‘${wait.name}’`,
  join: () => 'the join',
  leave: () => 'the shutdown barrier',
  topology: (wait) => `exchange of topologies ‘${wait.name}’`,
  alive: () => 'an alive query',
  preemption: () => 'a step to stop at',
  get: (wait) => `key ‘${wait.name}’`,
  get_all: (wait) => `key ‘${wait.name}’ and perhaps others`,
  pop: (wait) => `an item of queue ‘${wait.name}’`,
};

function textOfWait(wait) {
  return (WAIT_KINDS[wait.kind] ?? ((other) => `${other.kind} ‘${other.name}’`))(wait);
}

// The things of `added` after those of `kept`, each number once, at most `limit`.
function appended(kept, added, limit) {
  const last = kept.length > 0 ? kept[kept.length - 1].number : -1;
  return [...kept, ...added.filter((one) => one.number > last)].slice(-limit);
}

class Job {
  constructor() {
    this.facts = null; // everything of the state that is no list; null: nothing came yet
    this.tasks = [];
    this.shown = new Uint8Array(0); // of each task, the number of its state
    this.barriers = [];
    this.barriersMore = 0;
    this.rounds = [];
    this.stragglers = [];
    this.events = [];
    this.why = {stuck: null, waits: [], more: 0};
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

  replace({state, why, events}, now) {
    if (this.facts?.coordinator !== state.coordinator) {
      this.rounds = [];
      this.events = [];
    }
    const {tasks, barriers, rounds, stragglers, ...facts} = state;
    this.tasks = [];
    this.stragglers = [];
    this.take(
      {summary: facts, tasks, barriers, barriers_more: 0, rounds, stragglers, why, events},
      {},
      now,
    );
  }

  update(message, now) {
    this.take(message, this.facts, now);
  }

  take(message, facts, now) {
    this.facts = {...facts, ...message.summary};
    this.receivedAt.facts = now;
    for (const task of message.tasks ?? []) this.tasks[task.task] = {...task, receivedAt: now};
    this.barriers = message.barriers ?? this.barriers;
    this.barriersMore = message.barriers_more ?? 0;
    this.rounds = appended(this.rounds, message.rounds ?? [], ROUNDS_KEPT);
    this.stragglers = message.stragglers ?? this.stragglers;
    this.events = appended(this.events, message.events ?? [], EVENTS_KEPT);
    if (message.why) {
      this.why = message.why;
      this.receivedAt.why = now;
    }
    this.look();
  }

  // Decides what each task is shown as.
  look() {
    this.shown = new Uint8Array(this.tasks.length);
    this.tasks.forEach((task, number) => {
      this.shown[number] = STATE_NUMBER[stateOf(task)];
    });
    for (const wait of this.why.waits.filter(({kind}) => MEETINGS.has(kind))) {
      for (const [first, last] of rangesOf(wait.waiting)) this.mark(first, last);
    }
  }

  // Those that are connected wait.
  mark(first, last) {
    for (let number = first; number <= last && number < this.shown.length; ++number) {
      if (this.shown[number] === STATE_NUMBER.connected) this.shown[number] = STATE_NUMBER.waiting;
    }
  }

  // How many tasks are shown as each state.
  counts() {
    const counts = new Array(STATES.length).fill(0);
    for (const state of this.shown) ++counts[state];
    return counts;
  }

  waitsOf(number) {
    return this.why.waits.filter((wait) => isWithin(rangesOf(wait.waiting), number));
  }

  uptime(now) {
    return this.facts.uptime_ms + (now - this.receivedAt.facts);
  }

  // How many rounds have ended, whether or not we have seen them.
  roundsEnded() {
    return this.rounds.length > 0 ? this.rounds[this.rounds.length - 1].number : 0;
  }
}

function stateOf(task) {
  if (task.state === 'failed' || task.state === 'left') return task.state;
  if (task.suspect) return 'suspect';
  if (task.state === 'connected') return 'connected';
  return task.state === 'joining' ? 'connecting' : 'never';
}
