// Who waits for what: barriers, keys, items and locks in one list.

// How long it has lasted and when it ends at the latest.
function textOfTimes({age, remaining}) {
  const ends = remaining === null ? 'no limit' : `times out in ${textOfSeconds(remaining)}`;
  return `for ${textOfSeconds(age)} · ${ends}`;
}

// A line of text that is there only if it says something.
function showLine(parent, name, text) {
  const line = parent.querySelector(`.${name}`);
  line.hidden = !text;
  setLinked(line, text || '');
}

function makeWait() {
  const bar = make('div', {className: 'bar'}, make('i'));
  bar.setAttribute('role', 'progressbar');
  return make(
    'li',
    {},
    make(
      'div',
      {className: 'row'},
      make('strong', {className: 'name'}),
      make('span', {className: 'badge', textContent: 'deadlock'}),
      make('span', {className: 'amount'}),
    ),
    bar,
    make('p', {className: 'missing'}),
    make('ul', {className: 'known'}),
    make('p', {className: 'who'}),
    make('p', {className: 'times'}),
    make(
      'div',
      {className: 'row'},
      make('button', {type: 'button', className: 'plain show', textContent: 'Show the missing'}),
      make('button', {type: 'button', className: 'plain act cancel', textContent: 'Cancel…'}),
    ),
  );
}

// "tasks 3,17-24" with what is cut.
function textOfTasks(tasks, cut) {
  const more = cut > 0 ? ` and ${textOfCount(cut)} more` : '';
  return `${/^\d+$/.test(tasks) ? 'task' : 'tasks'} ${tasks}${more}`;
}

function textOfWaiters({waiting, waiting_cut: cut, others}) {
  const rest = others > 0 && `${plural(others, 'caller')} of no task`;
  const who = [waiting && textOfTasks(waiting, cut), rest].filter(Boolean).join(' and ');
  return who && `waiting: ${who}`;
}

// A wait for a key has no particular missing tasks; a lock and the items of a queue have holders.
function textOfMissing({kind, missing, missing_cut: cut, expected}) {
  if (!missing) return '';
  if (kind === 'lock') return `held by ${missing}`;
  if (kind === 'pop') {
    return `${textOfCount(expected)} leased${expected === 1 ? '' : ', the first'} to ${missing}`;
  }
  return `missing: ${textOfTasks(missing, cut)}`;
}

// Whether a missing task answers; empty: that is not known yet.
function textOfAnswer({answers, unanswered_ms: unanswered}, since) {
  if (answers) return 'answers';
  if (answers !== false) return '';
  const age = textOfSeconds(unanswered + since);
  return `has not answered for ${age}: frozen, or its machine is gone`;
}

function textOfKnown(known, since) {
  // Of a task that is there, only changes are announced, and heartbeats are none.
  const isThere = known.state === 'connected' && !known.suspect;
  const heard = known.last_heard_ms;
  return [
    `task ${known.task}: ${known.suspect ? `${known.state}, suspect` : known.state}`,
    known.process,
    isThere || heard === null ? '' : `heard ${textOfSeconds(heard + since)} ago`,
    known.step === null ? '' : `at step ${textOfCount(known.step)}`,
    known.waits_for && `waits for ${known.waits_for}`,
    textOfAnswer(known, since),
    known.last_call && `last call: ${known.last_call} at ${known.last_call_at.slice(11, 19)}`,
  ]
    .filter(Boolean)
    .join(' · ');
}

// `since`: how long ago this was known; `isShown`: the grid shows its missing.
function updateWait(line, wait, since, isShown) {
  const {arrived, expected, barrier} = wait;
  const isMeeting = wait.kind in MEETINGS && expected > 0;
  line.barrier = barrier;
  setText(line.querySelector('.name'), textOfWait(wait));
  line.querySelector('.badge').hidden = !wait.stuck;
  setText(
    line.querySelector('.amount'),
    isMeeting ? `${textOfCount(arrived)} of ${textOfCount(expected)}` : '',
  );
  const bar = line.querySelector('.bar');
  bar.hidden = !isMeeting;
  bar.setAttribute('aria-label', `Arrived at ${textOfWait(wait)}`);
  bar.setAttribute('aria-valuemax', expected);
  bar.setAttribute('aria-valuenow', arrived);
  bar.firstElementChild.style.width = `${(100 * arrived) / Math.max(1, expected)}%`;
  showLine(line, 'missing', textOfMissing(wait));
  showLine(line, 'who', textOfWaiters(wait));
  setText(line.querySelector('.times'), textOfTimes(wait));
  keepInStep(
    line.querySelector('.known'),
    wait.known ?? [],
    ({task}) => task,
    () => make('li'),
    (entry, known) => setLinked(entry, textOfKnown(known, since)),
  );
  const hasMissing = Boolean(barrier?.missing);
  line.querySelector('.show').hidden = !hasMissing;
  if (hasMissing) updateShowButton(line.querySelector('.show'), barrier, isShown(barrier));
  line.querySelector('.cancel').hidden = barrier?.kind !== 'tasks';
}

function updateShowButton(button, barrier, isShown) {
  button.barrier = barrier;
  button.setAttribute('aria-pressed', String(isShown));
  setText(button, isShown ? 'Show all again' : 'Show the missing');
}

function showWaits(job, now, isShown) {
  const since = now - job.receivedAt.why;
  const waits = job.waits(now);
  keepInStep(
    byId('waits'),
    waits,
    ({kind, name}) => `${kind} ${name}`,
    makeWait,
    (line, wait) => updateWait(line, wait, since, isShown),
  );
  // Barriers that are not listed may be among the waits that are not.
  showSize('waits', waits.length, Math.max(job.barriersMore, job.why.more));
}
