// The banner: the coordinator's sentence about the job, the evidence for it, and what to type next.

// Its colour, by the state of the job.
const LEVELS = {
  running: 'good',
  slow: 'warn',
  waiting: 'warn',
  deadlock: 'warn',
  failed: 'bad',
};

// A coordinator that does not answer is trouble, unless the job had ended.
function levelOf({state}, isGone) {
  const level = LEVELS[state] ?? 'calm';
  const hasEnded = ['failed', 'stopped', 'over'].includes(state);
  return isGone && !hasEnded ? 'warn' : level;
}

const BLAMED_MAX = 3;

// The first tasks that are missing or to blame.
function blamedTasks({facts, tasks}) {
  return rangesOf(facts.state_tasks)
    .flatMap(([first, last]) =>
      Array.from({length: Math.min(last - first + 1, BLAMED_MAX)}, (_, by) => first + by),
    )
    .slice(0, BLAMED_MAX)
    .map((number) => tasks[number])
    .filter(Boolean);
}

function textOfBlamed({task, process, step, suspect}, job, now) {
  const known = job.why.waits.flatMap((wait) => wait.known ?? []).find((one) => one.task === task);
  const about = [
    process,
    step !== null && `at step ${textOfCount(step)}`,
    suspect && 'suspect',
    known && textOfAnswer(known, now - job.receivedAt.why),
  ];
  const text = about.filter(Boolean).join(', ');
  return `task ${task}${text && ` (${text})`}`;
}

// Since when, and which processes it is about; of a failure, what came of it. The sentence has the
// age of a wait, and the time of a failure.
function evidenceOf(job, now) {
  const {since, error, state} = job.facts;
  const lasting = state === 'waiting' ? null : job.lasting(now);
  const age = lasting === null ? '' : `${textOfSeconds(lasting)} ago`;
  const consequences = error?.later_count ?? 0;
  return [
    error ? age : since && `since ${since.slice(11, 19)}${age && `, ${age}`}`,
    ...(state === 'not_started' ? [] : blamedTasks(job).map((one) => textOfBlamed(one, job, now))),
    consequences > 0 && `${plural(consequences, 'task')} ended with the job`,
  ]
    .filter(Boolean)
    .join(' · ');
}

// "b12" and 3391 of "b12:3391", where it can stand in a command line.
function processOf({process}) {
  const [, host, pid] = /^(?:jax [^,]*, )?(\w[\w.-]*):(\d+)$/.exec(process) ?? [];
  return host ? {host, pid} : null;
}

// What to do next in words, and what to type for it; null: nothing.
function nextStepOf(job, isGone) {
  const {facts} = job;
  const blamed = blamedTasks(job);
  const at = blamed.map(processOf).find(Boolean);
  const cause = facts.error?.cause.message ?? '';
  if (isGone) {
    return [`Where the coordinator ${job.address} ran, to see how it ended:`, 'coxswain jobs'];
  }
  switch (facts.state) {
    case 'waiting':
      return at && blamed[0].suspect
        ? ['Whether it still runs:', `ssh ${at.host} ps -o stat,etime,args ${at.pid}`]
        : ['What it is doing:', 'coxswain why --stacks'];
    case 'slow':
      return at && ['What else runs there:', `ssh ${at.host} top`];
    case 'deadlock': {
      const stuck = job.why.waits.filter((wait) => wait.stuck);
      const canCancel = stuck.every(({kind}) => kind === 'barrier');
      const name = stuck[0]?.name ?? '';
      if (canCancel && /^\w[\w./-]*$/.test(name)) {
        return ['To break it, for example:', `coxswain cancel ${name}`];
      }
      return at && ['To break it, for example:', `ssh ${at.host} kill ${at.pid}`];
    }
    case 'failed':
      return /signal 9\b/.test(cause) && at
        ? ['Out of memory?', `ssh ${at.host} 'dmesg | grep -i oom'`]
        : ['What happened before, besides the output of the task:', 'coxswain events'];
    case 'gathering':
    case 'not_started': {
      const address = /^[\w.-]+:\d+$/.test(job.address) ? `--address ${job.address} ` : '';
      return ['To start one that is missing:', `coxswain task ${address}-- COMMAND`];
    }
    case 'unknown': // a recording that lost its beginning
      return ['To keep the whole of the next job, an option of run and serve:', '--record FILE'];
    case 'stopped':
    case 'over':
      return ['Where its recording is:', 'coxswain jobs'];
    default:
      return null;
  }
}

// The waits of a deadlock, which its sentence lists between the tasks and the ways out.
function partsOf({headline, state}) {
  const found = /^(Deadlock: .*?): (tasks? \d.*); ([^;]*)$/s.exec(headline);
  if (state !== 'deadlock' || !found) return {sentence: headline, waits: []};
  const [, sentence, waits, wayOut] = found;
  return {sentence: `${sentence}; ${wayOut}`, waits: waits.split(/, (?=tasks? [\d,-]+ )/)};
}

// `goneSince` is the time of day since when the coordinator does not answer; null: it does.
function showVerdict(job, now, goneSince, isShown) {
  const {facts} = job;
  const isGone = goneSince !== null;
  const banner = byId('verdict');
  const {sentence, waits} = partsOf(facts);
  const shown = isGone ? `No answer since ${goneSince}; last known state: ${sentence}` : sentence;
  const evidence = evidenceOf(job, now);
  const state = isGone ? 'gone' : facts.state;
  const isOther = banner.dataset.state !== state || banner.dataset.tasks !== facts.state_tasks;
  Object.assign(banner.dataset, {level: levelOf(facts, isGone), state, tasks: facts.state_tasks});
  setLinked(byId('verdict-title'), shown);
  setLinked(byId('verdict-why'), evidence);
  byId('verdict-waits').hidden = waits.length === 0;
  keepInStep(
    byId('verdict-waits'),
    waits.map((text, place) => ({text, place})),
    ({place}) => place,
    () => make('li'),
    (line, {text}) => setLinked(line, text),
  );
  showNextStep(nextStepOf(job, isGone));
  if (isOther) announce(`${shown}. ${evidence}`);
  const {state_tasks: tasks} = facts;
  const barrier = tasks && job.barriers.find(({missing}) => missing === tasks);
  byId('verdict-show').hidden = !barrier;
  if (barrier) updateShowButton(byId('verdict-show'), barrier, isShown(barrier));
  byId('stacks-take').hidden = isGone || !['waiting', 'deadlock'].includes(facts.state);
  showFailures(facts.error);
}

function showNextStep(step) {
  byId('verdict-next').hidden = !step;
  const [words, command] = step ?? ['', ''];
  setText(byId('verdict-words'), words);
  setText(byId('verdict-command'), command);
  byId('verdict-copy').hidden = !navigator.clipboard; // which only secure pages have
}

// The cause in full, and its consequences; the list may be cut.
function showFailures(error) {
  byId('failures').hidden = !error;
  if (!error) return;
  const {cause, later, later_count: laterCount} = error;
  const cut = laterCount > later.length ? `, the first ${textOfCount(later.length)}` : '';
  setText(
    byId('failures-count'),
    laterCount === 0 ? 'The cause in full' : `${plural(laterCount, 'consequence')}${cut}`,
  );
  keepInStep(
    byId('failures-list'),
    [cause, ...later].map((failure, place) => ({failure, place})),
    ({place}) => place,
    () => make('li'),
    (line, {failure}) =>
      setLinked(
        line,
        `${failure.task === null ? '' : `task ${failure.task}: `}${textOfError(failure)}`,
      ),
  );
}

function textOfError({code, message}) {
  return message ? `${code}: ${message}` : code;
}
