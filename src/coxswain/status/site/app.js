// Puts the feed into the page, and counts ages on between its messages.

const NAMES_MAX = 50;
const GONE_AFTER_MS = 1000;
const SPAN_MIN_MS = 5000;

class Page {
  constructor() {
    this.job = new Job();
    this.linkState = 'connecting';
    this.nextTry = 0;
    this.lostAt = null; // the last sign of a coordinator that does not answer
    this.stoodAt = null; // when this moment of a recording came
    this.actions = new Actions();
    this.stacks = new Stacks();
    this.tasks = new TasksPanel(this.job, this.actions);
    this.keys = new KeysPanel();
    this.recorded = new RecordedTime((message) => this.take(message));
    this.pace = new PaceChart('pace');
    this.latency = new LatencyChart('chart');
    this.events = new EventsPanel();
    this.menu = new Menu(() => this.recolour());
    this.colours = coloursOf(MARK_COLOURS);
    this.link = new Link(
      (message) => this.take(message),
      (state, at) => this.showLink(state, at),
    );
    this.listen();
    this.begin();
    setInterval(() => this.tick(), 1000);
  }

  // A link may bring the token, which does not stay in the address.
  async begin() {
    const token = address.get('token');
    address.set({token: null});
    if (!token || (await this.link.logIn(token))) this.link.open();
  }

  listen() {
    byId('reconnect').addEventListener('click', () => this.link.tryNow());
    byId('login-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.logIn();
    });
    byId('rounds-name').addEventListener('change', () => this.showCharts());
    byId('verdict-show').addEventListener('click', ({target}) => this.showMissing(target.barrier));
    byId('verdict-copy').addEventListener('click', async () => {
      const copied = navigator.clipboard.writeText(byId('verdict-command').textContent);
      const isCopied = await copied.then(
        () => true,
        () => false,
      );
      notify(isCopied ? 'The command was copied.' : 'The browser does not allow it.');
    });
    byId('waits').addEventListener('click', ({target}) => {
      if (target.matches('.show')) this.showMissing(target.barrier);
      if (target.matches('.cancel')) this.actions.cancel(target.closest('#waits > li').barrier);
    });
    document.addEventListener('click', ({target}) => {
      const {tasks, host} = target.dataset;
      if (tasks !== undefined) this.tasks.showTasks(tasks);
      if (host === undefined) return;
      this.tasks.showHost(host);
      this.tasks.see();
    });
    this.tasks.onBright = () => this.tick();
    window.addEventListener('hashchange', () => {
      for (const panel of [this.tasks, this.keys, this.events]) panel.restore();
    });
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.target.matches('input, select')) return;
      event.preventDefault();
      byId('search').focus();
    });
  }

  // Times stand still while nothing is known.
  now() {
    return this.stoodAt ?? this.lostAt ?? performance.now();
  }

  take(message) {
    const isFirst = !this.job.facts;
    const now = performance.now();
    this.job.apply(message, now);
    if (!this.job.facts) return;
    if (message.type === 'state') this.stoodAt = message.recorded ? now : null;
    if (message.recorded) {
      this.recorded.show(message);
      this.showLinkText();
    }
    this.show();
    if (isFirst) this.tasks.restore();
  }

  // Pressed again, it shows all tasks.
  showMissing(barrier) {
    if (this.tasks.isShowing(barrier)) return this.tasks.brighten(null);
    this.tasks.showMissing(barrier);
    this.tasks.see();
  }

  show() {
    document.body.classList.add('has-state');
    // Of a recording that lost its beginning nothing else is known.
    document.body.classList.toggle('events-only', this.job.facts.state === 'unknown');
    this.tick();
    showFigures(this.job);
    showStragglers(this.job);
    this.keys.show(this.job.facts, this.now(), this.recorded.at);
    this.events.show(this.job.events);
  }

  tick() {
    if (this.linkState === 'waiting') this.showLinkText();
    if (!this.job.facts) return;
    const now = this.now();
    const isShown = (barrier) => this.tasks.isShowing(barrier);
    this.job.look(now);
    showHeader(this.job, now);
    showVerdict(this.job, now, this.goneSince(), isShown);
    showWaits(this.job, now, isShown);
    showHosts(this.job, now, this.colours);
    this.tasks.show(now);
    this.showCharts();
    this.showTitle();
  }

  // The time of day since when the coordinator has not answered; null: it does, or it is too early
  // to say.
  goneSince() {
    const isGone = this.lostAt !== null && performance.now() - this.lostAt >= GONE_AFTER_MS;
    return isGone ? this.job.timeOfDay(this.job.uptime(this.lostAt)) : null;
  }

  showCharts() {
    const {rounds} = this.job;
    const select = byId('rounds-name');
    const names = [...new Set(rounds.map((round) => round.name))].sort();
    // Where each round has a name of its own there is nothing to choose.
    const isChoice = names.length > 1 && names.length <= NAMES_MAX;
    select.hidden = !isChoice;
    keepInStep(
      select,
      ['', ...(isChoice ? names : [])],
      (name) => name,
      (name) => make('option', {value: name}),
      (option, name) => setText(option, name || 'All barriers'),
    );
    const now = this.job.uptime(this.now());
    const span = spanOf(rounds.length > 0 ? rounds : this.job.steps, now);
    const timeOfDay = (ms) => this.job.timeOfDay(ms);
    const name = select.value;
    this.pace.show(this.job, span, timeOfDay, now);
    this.latency.show(
      name ? rounds.filter((round) => round.name === name) : rounds,
      span,
      timeOfDay,
    );
  }

  // The tab says at once how the job is.
  showTitle() {
    const [sign, colour] = {
      bad: ['✕ ', 'failed'],
      warn: ['⚠ ', 'suspect'],
      good: ['', 'connected'],
      calm: ['', 'left'],
    }[byId('verdict').dataset.level];
    document.title = `${sign}${this.job.facts.job} · Coxswain`;
    const circle = `<circle cx="8" cy="8" r="7" fill="${this.colours[colour]}"/>`;
    const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${circle}</svg>`;
    const url = `data:image/svg+xml,${encodeURIComponent(icon)}`;
    if (byId('icon').href !== url) byId('icon').href = url;
  }

  recolour() {
    this.colours = coloursOf(MARK_COLOURS);
    byId('hosts').replaceChildren();
    this.tasks.recolour();
    this.pace.recolour();
    this.latency.recolour();
  }

  showLink(state, at) {
    if (state === 'live') {
      this.lostAt = null;
      announce('live');
      this.actions.findRole();
    } else {
      if (this.linkState === 'live') announce('The connection is lost.');
      this.lostAt ??= this.link.heardAt;
    }
    this.linkState = state;
    this.nextTry = at ?? 0;
    byId('link').dataset.state = state;
    byId('reconnect').hidden = state !== 'waiting';
    document.body.classList.toggle('stale', state !== 'live');
    this.showLinkText();
    if (state === 'locked' && !byId('login').open) byId('login').showModal();
  }

  showLinkText() {
    const seconds = Math.max(1, Math.ceil((this.nextTry - performance.now()) / 1000));
    const text = {
      live: this.recorded.at === null ? 'live' : 'recording',
      connecting: this.job.facts ? 'reconnecting' : 'connecting',
      waiting: `reconnecting in ${seconds} s`,
      locked: 'locked',
    };
    setText(byId('link-text'), text[this.linkState]);
  }

  async logIn() {
    const refused = await this.link.logIn(byId('token').value);
    setText(byId('login-refused'), refused);
    byId('token').value = '';
    if (!refused) byId('login').close();
  }
}

// From the first of these to now; if the last one was long ago, not as far.
function spanOf(ends, now) {
  const from = ends[0]?.at_ms ?? 0;
  const last = ends[ends.length - 1]?.at_ms ?? 0;
  const to = Math.min(now, last + Math.max(SPAN_MIN_MS, (last - from) / 3));
  return {from, to: Math.max(to, from + 1000)};
}

new Page();
