// The panel of tasks: legend, search, the card of one of them, and which the grid shows bright.

const UNGROUPED = [];
const CARD_GAP = 8;

class TasksPanel {
  constructor(job, actions) {
    this.job = job;
    this.bright = null; // {what: 'state', 'search', 'missing', 'host' or 'tasks', text(), holds()}
    this.looked = null; // whose card is shown
    this.isByNumber = address.get('order') === 'number';
    this.grid = new TaskGrid(byId('grid'), byId('grid-canvas'), (number, isHover) =>
      this.look(number, isHover),
    );
    this.makeLegend();
    byId('search').addEventListener('input', () => this.search());
    byId('search-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.selectNextMatch();
    });
    byId('show-all').addEventListener('click', () => this.brighten(null));
    byId('preempt').addEventListener('click', () => actions.preempt(this.looked));
    byId('order').addEventListener('click', () => {
      this.isByNumber = !this.isByNumber;
      address.set({order: this.isByNumber ? 'number' : null});
      this.draw();
    });
    byId('card-close').addEventListener('click', () => this.close());
    byId('tasks').addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
    });
  }

  show(now) {
    const {job} = this;
    this.now = now;
    const hosts = job.hosts.filter(({name}) => name !== null).length;
    const where = hosts > 0 ? ` on ${plural(hosts, 'host')}` : '';
    setText(byId('tasks-count'), `${textOfCount(job.tasks.length)}${where}`);
    const counts = job.counts();
    [...byId('legend').children].forEach((button, state) => {
      setText(button.querySelector('b'), textOfCount(counts[state]));
      const isUsed = this.bright?.state === state || button === document.activeElement;
      button.hidden = counts[state] === 0 && !isUsed;
    });
    document.body.classList.toggle('few', job.tasks.length <= FEW);
    this.showMissingAgain();
    this.draw();
    this.showMatches();
    this.showCard();
  }

  draw() {
    const {job} = this;
    const hosts = job.isGrouped() && !this.isByNumber ? job.hosts : UNGROUPED;
    byId('order').hidden = !job.isGrouped();
    byId('order').setAttribute('aria-pressed', String(hosts !== UNGROUPED));
    this.grid.show(
      job.shown,
      hosts,
      hosts.map((host) => job.stateOfHost(host).worst),
    );
  }

  // What an address says that this page has made.
  restore() {
    const [state, host, missing] = ['state', 'host', 'missing'].map((name) => address.get(name));
    const task = Number(address.get('task') ?? NaN);
    const text = address.get('find');
    if (text) {
      byId('search').value = text;
      this.search();
    } else if (state in STATE_NUMBER) {
      this.showState(STATE_NUMBER[state]);
    } else if (host) {
      this.showHost(host);
    } else if (missing) {
      const [kind, ...name] = missing.split(':');
      this.showMissing({kind, name: name.join(':')});
    } else {
      this.brighten(null);
    }
    if (task in this.job.tasks) this.grid.selectAndScroll(task);
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
        button.addEventListener('click', () => {
          if (this.bright?.state === state) return this.brighten(null);
          this.showState(state);
        });
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

  showState(state) {
    const {name, text} = STATES[state];
    this.brighten(
      {what: 'state', state, text: () => text, holds: (number) => this.job.shown[number] === state},
      {state: name},
    );
  }

  showHost(name) {
    this.brighten(
      {what: 'host', name, text: () => `on ${name}`, holds: (number) => this.isOn(number, name)},
      {host: name},
    );
  }

  // Of a link in a text: "17" or "32-39".
  showTasks(tasks) {
    const ranges = rangesOf(tasks);
    const [[first, last]] = ranges;
    if (!(last in this.job.tasks)) return;
    if (first === last) {
      this.grid.selectAndScroll(first);
    } else {
      const holds = (number) => isWithin(ranges, number);
      this.brighten({what: 'tasks', text: () => `from ${first} to ${last}`, holds});
    }
    this.see();
  }

  isOn(number, name) {
    return hostOf(this.job.tasks[number]) === name;
  }

  // Of whichever round of the barrier is open, until something else is shown.
  showMissing({kind, name}) {
    const bright = {what: 'missing', kind, name, ranges: []};
    bright.holds = (number) => bright.ranges.length === 0 || isWithin(bright.ranges, number);
    bright.text = () =>
      bright.title
        ? `missing at ${bright.title}`
        : `No round of ‘${name}’ is open; the next is shown.`;
    this.brighten(bright, {missing: `${kind}:${name}`});
  }

  showMissingAgain() {
    const {bright} = this;
    if (bright?.what !== 'missing') return;
    const open = this.job
      .waits(this.now)
      .find(({barrier}) => barrier?.kind === bright.kind && barrier.name === bright.name);
    bright.title = open && textOfWait(open);
    bright.ranges = rangesOf(open?.missing);
    this.grid.redrawSoon();
  }

  // Whether the missing of this barrier are shown now.
  isShowing({kind, name}) {
    return (
      this.bright?.what === 'missing' && this.bright.kind === kind && this.bright.name === name
    );
  }

  // `link` is what the address says of it.
  brighten(bright, link = {}) {
    this.bright = bright;
    address.set({state: null, host: null, missing: null, find: null, ...link});
    [...byId('legend').children].forEach((button, state) => {
      button.setAttribute('aria-pressed', String(bright?.state === state));
    });
    if (bright?.what !== 'search') byId('search').value = '';
    this.showMissingAgain();
    this.grid.brighten(bright?.holds ?? null);
    this.showMatches();
    this.onBright?.();
  }

  // A number is a task; anything else is looked for in processes and addresses.
  search() {
    const text = byId('search').value.trim().toLowerCase();
    if (!text) return this.brighten(null);
    const holds =
      /^\d+$/.test(text) && Number(text) < this.job.tasks.length
        ? (number) => number === Number(text)
        : (number) => this.isNamed(number, text);
    this.brighten({what: 'search', text: () => `found by ‘${text}’`, holds}, {find: text});
    const first = this.matches()[0];
    if (first !== undefined) this.grid.selectAndScroll(first);
  }

  isNamed(number, text) {
    const {process, peer} = this.job.tasks[number];
    return `${process} ${peer}`.toLowerCase().includes(text);
  }

  matches() {
    return [...this.job.tasks.keys()].filter((number) => this.bright.holds(number));
  }

  showMatches() {
    const {bright} = this;
    byId('show-all').hidden = !bright;
    if (!bright) return setText(byId('search-result'), this.hint());
    const isWaiting = bright.what === 'missing' && !bright.title;
    const count = isWaiting ? '' : `${plural(this.matches().length, 'task')} `;
    setText(byId('search-result'), `${count}${bright.text()}`);
  }

  selectNextMatch() {
    if (this.bright?.what !== 'search') return;
    const matches = this.matches();
    if (matches.length === 0) return;
    const next = matches.find((number) => number > (this.grid.selected ?? -1));
    this.grid.selectAndScroll(next ?? matches[0]);
  }

  see() {
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const what = byId(byId('card').hidden ? 'tasks' : 'card');
    what.scrollIntoView({block: 'nearest', behavior: isCalm ? 'auto' : 'smooth'});
  }

  look(number, isHover) {
    this.looked = number;
    if (!isHover) address.set({task: number === null ? null : String(number)});
    this.showCard();
    if (!isHover && number !== null) announce(this.inWords(this.job.tasks[number]));
  }

  // Shows all tasks, and the card of none.
  close() {
    if (byId('card').contains(document.activeElement)) byId('grid').focus();
    this.grid.select(null);
    this.brighten(null);
  }

  inWords(task) {
    const state = STATES[this.job.shown[task.task]].text;
    return `Task ${task.task}, ${state}${task.error ? `, ${textOfError(task.error)}` : ''}`;
  }

  // Beside the task's tile, within the panel.
  showCard() {
    const task = this.looked === null ? null : this.job.tasks[this.looked];
    const tile = task && this.grid.tileOf(this.looked);
    byId('card').hidden = !tile;
    if (!tile) return;
    byId('preempt').hidden = task.state !== 'connected';
    keepInStep(
      byId('details'),
      detailsOf(this.job, task, this.now),
      ([name]) => name,
      ([name]) =>
        make(
          'div',
          {className: name.replaceAll(' ', '-')},
          make('dt', {textContent: name}),
          make('dd'),
        ),
      (entry, [, text]) => setLinked(entry.lastChild, text),
    );
    const room = byId('tasks').clientWidth;
    const width = byId('card').offsetWidth;
    const places = [tile.right + CARD_GAP, tile.left - CARD_GAP - width];
    const left = places.find((one) => one >= 0 && one + width <= room);
    const isBeside = left !== undefined;
    byId('card').style.left = `${isBeside ? left : Math.max(0, (room - width) / 2)}px`;
    byId('card').style.top = `${isBeside ? tile.top : tile.bottom + CARD_GAP}px`;
  }

  hint() {
    if (this.job.shown.length === 0) return '';
    const isEmpty = this.job.shown.every((state) => state === STATE_NUMBER.never);
    return isEmpty
      ? 'No task has connected yet.'
      : 'Point at a task, or use the arrow keys.';
  }
}

// As pairs of a name and a text; those without a text are left out.
function detailsOf(job, task, now) {
  const since = now - task.receivedAt;
  const waits = job.waitsOf(task.task).map(textOfWait).join(', ');
  const missing = job
    .waits(now)
    .filter(({barrier}) => barrier && isWithin(rangesOf(barrier.missing), task.task))
    .map(textOfWait)
    .join(', ');
  // Of a task that is there, only changes are announced, and heartbeats are none.
  const isThere = task.state === 'connected' && !task.suspect;
  const heard = task.last_heard_ms;
  const step =
    task.step === null
      ? ''
      : `${textOfCount(task.step)}, ${textOfSeconds(task.step_age_ms + since)} ago` +
        `${task.no_progress ? ', no progress since' : ''}`;
  return [
    ['task', String(task.task)],
    ['waits for', waits],
    ['missing at', missing],
    ['error', task.error ? textOfError(task.error) : ''],
    ['state', task.suspect ? `${task.state}, suspect: its connection was lost` : task.state],
    ['expected by', task.returns_by ? task.returns_by.slice(0, 19).replace('T', ' ') : ''],
    ['process', task.process],
    ['peer', task.peer],
    ['last heard', isThere || heard === null ? '' : `${textOfSeconds(heard + since)} ago`],
    ['step', step],
    ['incarnation', task.incarnation],
    ['recoverable', task.recoverable ? 'yes' : ''],
  ].filter(([, text]) => text);
}
