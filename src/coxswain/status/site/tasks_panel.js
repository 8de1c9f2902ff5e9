// The panel of tasks: legend, search, details, and what is brightened in the grid.

class TasksPanel {
  constructor(job) {
    this.job = job;
    this.bright = null; // {what: 'state' | 'search' | 'missing', holds(number)}
    this.looked = null; // whose details are shown
    this.grid = new TaskGrid(byId('grid'), byId('grid-canvas'), (number, isHover) =>
      this.look(number, isHover),
    );
    this.makeLegend();
    byId('search').addEventListener('input', () => this.search());
    byId('search-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.selectNextMatch();
    });
    byId('grid').addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.brighten(null);
    });
  }

  show(now) {
    const {job} = this;
    this.now = now;
    setText(byId('tasks-count'), textOfCount(job.tasks.length));
    const counts = job.counts();
    [...byId('legend').children].forEach((button, state) => {
      setText(button.querySelector('b'), textOfCount(counts[state]));
      button.classList.toggle('empty', counts[state] === 0);
    });
    this.grid.show(job.shown);
    this.showDetails();
  }

  tick(now) {
    this.now = now;
    this.showDetails();
  }

  makeLegend() {
    const colours = coloursOf(MARK_COLOURS);
    byId('legend').replaceChildren(
      ...STATES.map(({name, text}, state) => {
        const button = make(
          'button',
          {type: 'button'},
          markCanvas(name, colours),
          make('span', {textContent: text}),
          make('b'),
        );
        button.dataset.state = name;
        button.setAttribute('aria-pressed', 'false');
        button.addEventListener('click', () => this.toggleState(state));
        return button;
      }),
    );
  }

  recolour() {
    this.grid.recolour();
    const colours = coloursOf(MARK_COLOURS);
    [...byId('legend').children].forEach((button, state) => {
      button.firstElementChild.replaceWith(markCanvas(STATES[state].name, colours));
    });
  }

  toggleState(state) {
    const isOn = this.bright?.state === state;
    this.brighten(
      isOn ? null : {what: 'state', state, holds: (number) => this.job.shown[number] === state},
    );
  }

  showMissing(ranges) {
    this.brighten({what: 'missing', holds: (number) => isWithin(ranges, number)});
    this.selectAndSee(ranges[0][0]);
  }

  brighten(bright) {
    this.bright = bright;
    this.grid.brighten(bright?.holds ?? null);
    [...byId('legend').children].forEach((button, state) => {
      button.setAttribute('aria-pressed', String(bright?.state === state));
    });
    if (bright?.what !== 'search') byId('search').value = '';
    this.showMatches();
  }

  // A number is a task; anything else is looked for in processes and addresses.
  search() {
    const text = byId('search').value.trim().toLowerCase();
    if (!text) return this.brighten(null);
    const {tasks} = this.job;
    const holds =
      /^\d+$/.test(text) && Number(text) < tasks.length
        ? (number) => number === Number(text)
        : (number) => `${tasks[number].process} ${tasks[number].peer}`.toLowerCase().includes(text);
    this.brighten({what: 'search', holds});
    const first = this.matches()[0];
    if (first !== undefined) this.grid.select(first);
  }

  matches() {
    return [...this.job.tasks.keys()].filter((number) => this.bright.holds(number));
  }

  showMatches() {
    const text =
      this.bright?.what === 'search' ? plural(this.matches().length, 'match', 'matches') : '';
    setText(byId('search-result'), text);
  }

  selectNextMatch() {
    if (this.bright?.what !== 'search') return;
    const matches = this.matches();
    if (matches.length === 0) return;
    const next = matches.find((number) => number > (this.grid.selected ?? -1));
    this.grid.select(next ?? matches[0]);
  }

  selectAndSee(number) {
    this.grid.select(number);
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    byId('tasks').scrollIntoView({block: 'nearest', behavior: isCalm ? 'auto' : 'smooth'});
  }

  look(number, isHover) {
    this.looked = number;
    this.showDetails();
    if (!isHover && number !== null) announce(this.inWords(this.job.tasks[number]));
  }

  inWords(task) {
    const state = STATES[this.job.shown[task.task]].text;
    return `Task ${task.task}, ${state}${task.error ? `, ${textOfError(task.error)}` : ''}`;
  }

  showDetails() {
    const task = this.looked === null ? null : this.job.tasks[this.looked];
    const details = byId('details');
    details.classList.toggle('empty', !task);
    if (!task) {
      keepInStep(
        details,
        this.hints(),
        (text) => text,
        () => make('p'),
        setText,
      );
      return;
    }
    keepInStep(
      details,
      detailsOf(this.job, task, this.now),
      ([name]) => name,
      ([name]) =>
        make(
          'div',
          {className: name.replaceAll(' ', '-')},
          make('span', {textContent: name}),
          make('strong'),
        ),
      (entry, [, text]) => setText(entry.querySelector('strong'), text),
    );
  }

  hints() {
    if (this.job.shown.length === 0) return [];
    const isEmpty = this.job.shown.every((state) => state === STATE_NUMBER.never);
    return isEmpty
      ? ['No task has connected yet.']
      : ['Point at a task, or move with the arrow keys, to see more.'];
  }
}

// As pairs of a name and a text; those without a text are left out.
function detailsOf(job, task, now) {
  const since = now - task.receivedAt;
  const waits = job.waitsOf(task.task).map(textOfWait).join(', ');
  // Of a task that is there, only changes are told, and signs of life are none.
  const isThere = task.state === 'connected' && !task.suspect;
  const heard = task.last_heard_ms;
  const step =
    task.step === null
      ? ''
      : `${textOfCount(task.step)}, ${textOfSeconds(task.step_age_ms + since)} ago`;
  return [
    ['task', String(task.task)],
    ['state', task.suspect ? `${task.state}, suspect: its connection was lost` : task.state],
    ['error', task.error ? textOfError(task.error) : ''],
    ['waits for', waits],
    ['process', task.process],
    ['peer', task.peer],
    ['last heard', isThere || heard === null ? '' : `${textOfSeconds(heard + since)} ago`],
    ['step', step],
    ['incarnation', task.incarnation],
    ['recoverable', task.recoverable ? 'yes' : ''],
  ].filter(([, text]) => text);
}
