// What stands beside the grid: headline, figures, barriers, waits, stragglers. Each function puts
// what the job says at `now` into its part of the page.

function showHeader(job, now) {
  const {facts} = job;
  setText(byId('job'), facts.job);
  setText(byId('coordinator'), facts.coordinator ?? '–');
  setText(byId('version'), facts.version);
  setText(byId('uptime'), textOfSeconds(job.uptime(now)));
}

function showFailure(job) {
  const {error} = job.facts;
  byId('failure').hidden = !error;
  if (!error) return;
  const {cause, later} = error;
  setText(
    byId('failure-title'),
    cause.task === null ? 'The job has failed' : `Task ${cause.task} failed`,
  );
  const process = job.tasks[cause.task]?.process;
  setText(byId('failure-why'), `${process ? `${process} · ` : ''}${textOfError(cause)}`);
  byId('failure-later').hidden = later.length === 0;
  setText(byId('failure-later-count'), plural(later.length, 'later failure'));
  keepInStep(
    byId('failure-later-list'),
    later.map((failure, place) => ({failure, place})),
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

function showStuck(job) {
  byId('stuck').hidden = !job.why.stuck;
  setText(byId('stuck-why'), job.why.stuck ?? '');
}

function figuresOf(job) {
  const {facts} = job;
  const counts = job.counts();
  const there = counts[STATE_NUMBER.connected] + counts[STATE_NUMBER.waiting];
  return [
    ['Connected', textOfCount(there), `of ${textOfCount(job.tasks.length)}`],
    ['Open barriers', textOfCount(job.barriers.length + job.barriersMore), ''],
    ['Rounds', textOfCount(job.roundsEnded()), 'finished'],
    ['Keys', textOfCount(facts.keys), textOfBytes(facts.key_bytes)],
    ['Memory', textOfBytes(facts.memory_bytes), `of ${textOfBytes(facts.memory_bytes_max)}`],
    ['Deadlines late', textOfDuration(facts.lateness_p99_ms), 'p99'],
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
  const ends = remaining === null ? 'no limit' : `ends in ${textOfSeconds(remaining - since)}`;
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
    make('button', {type: 'button', className: 'plain', textContent: 'Show the missing'}),
  );
}

const BARRIER_KINDS = {
  tasks: (barrier) => `${barrier.name} · round ${barrier.round}`,
  count: (barrier) => `${barrier.name} · count barrier`,
  join: () => 'Join',
  leave: () => 'Shutdown',
  topology: (barrier) => `${barrier.name} · topology`,
};

function updateBarrier(line, barrier, since) {
  const title = (BARRIER_KINDS[barrier.kind] ?? ((other) => other.name))(barrier);
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
  const button = line.querySelector('button');
  button.hidden = !barrier.missing;
  button.dataset.missing = barrier.missing;
}

function showBarriers(job, now) {
  const since = now - job.receivedAt.facts;
  keepInStep(
    byId('barriers'),
    job.barriers,
    ({kind, name, round}) => `${kind} ${round} ${name}`,
    makeBarrier,
    (line, barrier) => updateBarrier(line, barrier, since),
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
  const heard = known.last_heard_ms;
  return [
    known.suspect ? `${known.state}, suspect` : known.state,
    known.process,
    heard === null ? '' : `heard ${textOfSeconds(heard + since)} ago`,
    known.step === null ? '' : `at step ${textOfCount(known.step)}`,
    known.waits_for && `waits for ${known.waits_for}`,
  ]
    .filter(Boolean)
    .join(' · ');
}

// Nobody is missing in particular from a key or a queue.
function textOfMissing({missing, missing_cut: cut, arrived, expected}) {
  if (!missing) return '';
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
    ({kind, name, round}) => `${kind} ${round} ${name}`,
    makeWait,
    (line, wait) => updateWait(line, wait, since),
  );
  showSize('waits', job.why.waits.length, job.why.more);
}

function makeStraggler({task}) {
  const times = make('td', {className: 'share'}, make('span'), make('i'));
  return make(
    'tr',
    {},
    make('th', {scope: 'row'}, taskButton(task)),
    times,
    make('td'),
    make('td'),
  );
}

// The bars are compared with that of whom comes last most often.
function updateStraggler(row, straggler, most) {
  const [times, mean, longest] = row.querySelectorAll('td');
  setText(times.firstElementChild, `${textOfCount(straggler.times_last)}×`);
  times.lastElementChild.style.width = `${(48 * straggler.times_last) / Math.max(1, most)}px`;
  setText(mean, textOfDuration(straggler.margin_ms_mean));
  setText(longest, textOfDuration(straggler.margin_ms_max));
}

function showStragglers(job) {
  const {stragglers} = job;
  keepInStep(
    byId('stragglers'),
    stragglers,
    ({task}) => task,
    makeStraggler,
    (row, straggler) => updateStraggler(row, straggler, stragglers[0].times_last),
  );
  byId('stragglers-table').hidden = stragglers.length === 0;
  byId('stragglers-none').hidden = stragglers.length > 0;
  setText(
    byId('stragglers-of'),
    stragglers.length > 0 ? `of the last ${plural(stragglers[0].of, 'round')}` : '',
  );
}
