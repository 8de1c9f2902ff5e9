// What stands beside the grid: verdict, figures, barriers, waits, latecomers, hosts. Each function
// puts what the job says at `now` into its part of the page.

const LATECOMERS_MAX = 50;
const HOSTS_MAX = 100;

function showHeader(job, now) {
  const {facts} = job;
  setText(byId('job'), facts.job);
  setText(byId('coordinator'), facts.coordinator ?? '–');
  setText(byId('version'), facts.version);
  setText(byId('uptime'), textOfSeconds(job.uptime(now)));
  byId('has-epoch').hidden = !facts.elastic;
  setText(byId('epoch'), textOfCount(facts.elastic?.epoch ?? 0));
  byId('has-spares').hidden = !facts.spares_waiting;
  setText(byId('spares'), textOfCount(facts.spares_waiting ?? 0));
  const relays = job.relays.length + facts.relays_more;
  byId('has-relays').hidden = relays === 0;
  setText(byId('relays'), textOfCount(relays));
  byId('has-leases').hidden = facts.leased_items === 0;
  setText(byId('leases'), textOfCount(facts.leased_items));
  byId('leases').title = facts.leases.map(textOfLease).join('\n');
  byId('leads').hidden = !facts.leader;
  if (facts.leader) setText(byId('leader'), textOfLeader(facts.leader));
}

function textOfLeader({address, term, lag_entries: lag, lag_ms: age}) {
  const behind = lag === 0 ? 'none' : `${textOfCount(lag)}, ${textOfSeconds(age / 1000)}`;
  return `${address} · term ${term} · lag ${behind}`;
}

// The colour of the banner, by the state of the job; the others are good.
const LEVELS = {failed: 'bad', deadlock: 'warn', waiting: 'warn', slow: 'warn'};

function levelOf({state}) {
  return LEVELS[state] ?? 'good';
}

const PROCESSES_NAMED_MAX = 3;

// Below the sentence: since when, and which processes it is about; of a failure, whose sentence has
// its time, all that is known.
function evidenceOf({facts, tasks}) {
  const named = rangesOf(facts.state_tasks).flatMap(([first, last]) =>
    Array.from({length: Math.min(last - first + 1, PROCESSES_NAMED_MAX)}, (_, by) => first + by),
  );
  const processes = named
    .slice(0, PROCESSES_NAMED_MAX)
    .map((number) => tasks[number]?.process)
    .filter(Boolean);
  return [
    facts.since && !facts.error && `since ${facts.since.slice(11, 19)}`,
    processes.join(', '),
    facts.error && textOfError(facts.error.cause),
  ]
    .filter(Boolean)
    .join(' · ');
}

// Failures are listed in full below; each list may be cut.
function showVerdict(job, isShown) {
  const {headline, state, state_tasks: tasks} = job.facts;
  const banner = byId('verdict');
  const evidence = evidenceOf(job);
  const isOther = banner.dataset.state !== state || banner.dataset.tasks !== tasks;
  Object.assign(banner.dataset, {level: levelOf(job.facts), state, tasks});
  setText(byId('verdict-title'), headline);
  setText(byId('verdict-why'), evidence);
  if (isOther) announce(`${headline}. ${evidence}`);
  const barrier = tasks && job.barriers.find(({missing}) => missing === tasks);
  byId('verdict-show').hidden = !barrier;
  if (barrier) updateShowButton(byId('verdict-show'), barrier, isShown(barrier));
  const {error} = job.facts;
  byId('failures').hidden = !error;
  if (!error) return;
  const {cause, later, later_count: laterCount} = error;
  setText(
    byId('failures-count'),
    later.length === 0
      ? 'In full'
      : plural(laterCount, 'later failure') +
          (laterCount > later.length ? `, the first ${later.length}:` : ''),
  );
  keepInStep(
    byId('failures-list'),
    [cause, ...later].map((failure, place) => ({failure, place})),
    ({place}) => place,
    () => make('li'),
    (line, {failure}) =>
      setText(
        line,
        `${failure.task === null ? '' : `Task ${failure.task}: `}${textOfError(failure)}`,
      ),
  );
}

function textOfError({code, message}) {
  return message ? `${code}: ${message}` : code;
}

function figuresOf(job) {
  const {facts} = job;
  const there = job.tasks.filter(({state, suspect}) => state === 'connected' && !suspect).length;
  return [
    ['Connected', textOfCount(there), `of ${textOfCount(job.tasks.length)}`],
    ['Open barriers', textOfCount(job.barriers.length + job.barriersMore), ''],
    ['Rounds', textOfCount(job.roundsEnded()), 'finished'],
    ['Progress (slowest step)', ...progressOf(job)],
    ['Keys', textOfCount(facts.keys), textOfBytes(facts.key_bytes)],
    ['Memory', textOfBytes(facts.memory_bytes), `of ${textOfBytes(facts.memory_bytes_max)}`],
  ];
}

// The step of the task that is furthest behind, since the others wait for it sooner or later.
function progressOf(job) {
  const found = job.progress();
  if (!found) return ['–', 'no step reported'];
  const {lowest, highest} = found;
  const by = highest.step - lowest.step;
  return [
    textOfCount(lowest.step),
    by === 0 ? 'all alike' : `${textOfCount(by)} behind (task ${lowest.task})`,
  ];
}

function showFigures(job) {
  keepInStep(
    byId('figures'),
    figuresOf(job),
    ([name]) => name,
    ([name]) =>
      make(
        'div',
        {},
        make('dt', {textContent: name}),
        make('dd', {}, make('strong'), ' ', make('span')),
      ),
    (figure, [, amount, of]) => {
      setText(figure.querySelector('strong'), amount);
      setText(figure.querySelector('span'), of);
    },
  );
}

// How long it has lasted and when it ends at the latest.
function textOfTimes({age_ms: age, remaining_ms: remaining}, since) {
  const ends = remaining === null ? 'no limit' : `times out in ${textOfSeconds(remaining - since)}`;
  return `for ${textOfSeconds(age + since)} · ${ends}`;
}

// A line of text that is there only if it says something.
function showLine(parent, name, text) {
  const line = parent.querySelector(`.${name}`);
  line.hidden = !text;
  setText(line, text ?? '');
}

function makeBarrier() {
  const bar = make('div', {className: 'bar'}, make('i'));
  bar.setAttribute('role', 'progressbar');
  return make(
    'li',
    {},
    make(
      'div',
      {className: 'row'},
      make('strong', {className: 'name'}),
      make('span', {className: 'amount'}),
    ),
    bar,
    make('p', {className: 'times'}),
    make('p', {className: 'missing'}),
    make(
      'div',
      {className: 'row'},
      make('button', {type: 'button', className: 'plain show', textContent: 'Show the missing'}),
      make('button', {type: 'button', className: 'plain act cancel', textContent: 'Cancel…'}),
    ),
  );
}

const BARRIER_KINDS = {
  tasks: (barrier) => `${barrier.name} · round ${barrier.round}`,
  count: (barrier) => `${barrier.name} · count barrier`,
  join: () => 'Join',
  leave: () => 'Shutdown',
  topology: (barrier) => `${barrier.name} · topology`,
};

function titleOf(barrier) {
  return (BARRIER_KINDS[barrier.kind] ?? ((other) => other.name))(barrier);
}

// `isShown`: the grid shows its missing.
function updateBarrier(line, barrier, since, isShown) {
  const title = titleOf(barrier);
  line.barrier = barrier;
  setText(line.querySelector('.name'), title);
  setText(
    line.querySelector('.amount'),
    `${textOfCount(barrier.arrived)} / ${textOfCount(barrier.expected)}`,
  );
  const bar = line.querySelector('.bar');
  bar.setAttribute('aria-label', `Arrived at ${title}`);
  bar.setAttribute('aria-valuemax', barrier.expected);
  bar.setAttribute('aria-valuenow', barrier.arrived);
  bar.firstElementChild.style.width = `${(100 * barrier.arrived) / Math.max(1, barrier.expected)}%`;
  setText(line.querySelector('.times'), textOfTimes(barrier, since));
  showLine(
    line,
    'missing',
    barrier.missing && `missing ${textOfRanges(barrier.missing, barrier.missing_cut)}`,
  );
  const button = line.querySelector('.show');
  button.hidden = !barrier.missing;
  updateShowButton(button, barrier, isShown);
  line.querySelector('.cancel').hidden = barrier.kind !== 'tasks';
}

function updateShowButton(button, barrier, isShown) {
  button.barrier = barrier;
  button.setAttribute('aria-pressed', String(isShown));
  setText(button, isShown ? 'Show all again' : 'Show the missing');
}

function showBarriers(job, now, isShown) {
  const since = now - job.receivedAt.facts;
  keepInStep(
    byId('barriers'),
    job.barriers,
    ({kind, name}) => `${kind} ${name}`,
    makeBarrier,
    (line, barrier) => updateBarrier(line, barrier, since, isShown(barrier)),
  );
  showSize('barriers', job.barriers.length, job.barriersMore);
}

// How long a list is, and what stands there when it is empty.
function showSize(name, size, more) {
  setText(byId(`${name}-count`), size > 0 ? textOfCount(size + more) : '');
  byId(`${name}-none`).hidden = size > 0;
  byId(`${name}-more`).hidden = more === 0;
  setText(byId(`${name}-more`), `and ${textOfCount(more)} more`);
}

function makeWait() {
  return make(
    'li',
    {},
    make(
      'div',
      {className: 'row'},
      make('strong', {className: 'name'}),
      make('span', {className: 'badge', textContent: 'stuck'}),
    ),
    make('p', {className: 'who'}),
    make('p', {className: 'times'}),
    make('p', {className: 'missing'}),
    make('ul', {className: 'known'}),
  );
}

function textOfWaiters({waiting, waiting_cut: cut, others}) {
  const tasks =
    waiting && `${/^\d+$/.test(waiting) ? 'task' : 'tasks'} ${textOfRanges(waiting, cut)}`;
  const rest = others > 0 && `${plural(others, 'caller')} of no task`;
  return [tasks, rest].filter(Boolean).join(' and ');
}

function textOfKnown(known, since) {
  // Of a task that is there, only changes are announced, and heartbeats are none.
  const isThere = known.state === 'connected' && !known.suspect;
  const heard = known.last_heard_ms;
  return [
    known.suspect ? `${known.state}, suspect` : known.state,
    known.process,
    isThere || heard === null ? '' : `heard ${textOfSeconds(heard + since)} ago`,
    known.step === null ? '' : `at step ${textOfCount(known.step)}`,
    known.waits_for && `waits for ${known.waits_for}`,
  ]
    .filter(Boolean)
    .join(' · ');
}

// A wait for a key has no particular missing tasks; a lock and the items of a queue have holders.
function textOfMissing({kind, missing, missing_cut: cut, arrived, expected}) {
  if (!missing) return '';
  if (kind === 'lock') return `held by ${missing}`;
  if (kind === 'pop') {
    return `${textOfCount(expected)} leased${expected === 1 ? '' : ', the first'} to ${missing}`;
  }
  const who = textOfRanges(missing, cut);
  return `missing ${textOfCount(expected - arrived)} of ${textOfCount(expected)}: ${who}`;
}

function updateWait(line, wait, since) {
  setText(line.querySelector('.name'), textOfWait(wait));
  line.querySelector('.badge').hidden = !wait.stuck;
  setText(line.querySelector('.who'), textOfWaiters(wait));
  setText(line.querySelector('.times'), textOfTimes(wait, since));
  showLine(line, 'missing', textOfMissing(wait));
  keepInStep(
    line.querySelector('.known'),
    wait.known ?? [],
    ({task}) => task,
    ({task}) => make('li', {}, taskButton(task), make('span')),
    (entry, known) => setText(entry.querySelector('span'), textOfKnown(known, since)),
  );
}

function showWaits(job, now) {
  const since = now - job.receivedAt.why;
  keepInStep(
    byId('waits'),
    job.why.waits,
    ({kind, name}) => `${kind} ${name}`,
    makeWait,
    (line, wait) => updateWait(line, wait, since),
  );
  showSize('waits', job.why.waits.length, job.why.more);
}

// The name of a host, which shows its tasks.
function hostButton(name) {
  const button = make('button', {type: 'button', className: 'task-link', textContent: name});
  button.dataset.host = name;
  return button;
}

function makeLatecomer({host, tasks}) {
  const [task] = tasks;
  return make(
    'tr',
    {},
    make(
      'th',
      {scope: 'row'},
      host === null ? taskButton(task) : hostButton(host),
      make('span', {className: 'which'}),
    ),
    make('td', {className: 'share'}, make('span'), make('i')),
    make('td'),
    make('td'),
  );
}

// The bars are compared with that of the one that comes last most often.
function updateLatecomer(row, {host, tasks, times, sum, longest}, most) {
  const [share, mean, most_ms] = row.querySelectorAll('td');
  setText(
    row.querySelector('.which'),
    host === null ? '' : `task${tasks.size === 1 ? '' : 's'} ${rangesText([...tasks])}`,
  );
  setText(share.firstElementChild, `${textOfCount(times)}×`);
  share.lastElementChild.style.width = `${(40 * times) / Math.max(1, most)}px`;
  setText(mean, textOfDuration(sum / times));
  setText(most_ms, textOfDuration(longest));
}

function showLatecomers(job) {
  const {all, of} = job.latecomers();
  keepInStep(
    byId('stragglers'),
    all.slice(0, LATECOMERS_MAX),
    ({host, tasks}) => host ?? `task ${[...tasks][0]}`,
    makeLatecomer,
    (row, one) => updateLatecomer(row, one, all[0].times),
  );
  byId('stragglers-table').hidden = all.length === 0;
  byId('stragglers-none').hidden = all.length > 0;
  setText(byId('stragglers-who'), job.isGrouped() ? 'Host' : 'Task');
  setText(byId('stragglers-of'), of > 0 ? `in ${plural(of, 'round')}` : '');
}

// Hosts in trouble come first, each with what its tasks are like, and with its relays.
function showHosts(job, now, colours) {
  const known = job.hosts.map((host) => ({host, ...job.stateOfHost(host)}));
  const order = (one) => BY_CONCERN.indexOf(one.worst);
  known.sort((a, b) => order(a) - order(b) || a.host.tasks[0] - b.host.tasks[0]);
  const named = known.filter(({host}) => host.name !== null);
  keepInStep(
    byId('hosts'),
    named.slice(0, HOSTS_MAX),
    ({host}) => host.name,
    ({host}) =>
      make(
        'li',
        {},
        make('i'),
        hostButton(host.name),
        make('span'),
        make('p', {className: 'relay'}),
      ),
    (line, {host, worst, counts}) => {
      if (line.dataset.worst !== String(worst)) {
        line.dataset.worst = worst;
        line.firstChild.replaceWith(markCanvas(STATES[worst].name, colours));
      }
      setText(line.querySelector('span'), textOfHost(host, counts));
      const relays = job.relays.filter(({label}) => hostOf({process: label}) === host.name);
      showLine(line, 'relay', relays.map((relay) => textOfRelay(relay, job, now)).join('; '));
    },
  );
  showSize('hosts', Math.min(named.length, HOSTS_MAX), Math.max(0, named.length - HOSTS_MAX));
}

// "8 tasks: 1 missing, 7 waiting".
function textOfHost({tasks}, counts) {
  const parts = BY_CONCERN.filter((state) => counts[state] > 0).map((state) =>
    counts[state] === tasks.length
      ? STATES[state].text
      : `${textOfCount(counts[state])} ${STATES[state].text}`,
  );
  return `${plural(tasks.length, 'task')}: ${parts.join(', ')}`;
}

function textOfRelay({label, clients, clients_paused: paused, at_ms: at}, job, now) {
  const reading = paused > 0 ? `, ${textOfCount(paused)} paused` : '';
  const age = textOfSeconds(job.uptime(now) - at);
  return `Relay ${label}: ${plural(clients, 'client')}${reading}, connected for ${age}`;
}
