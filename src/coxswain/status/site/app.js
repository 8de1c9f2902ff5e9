// Puts the feed into the page, and counts ages on between its messages.

const NAMES_MAX = 50;

class Page {
  constructor() {
    this.job = new Job();
    this.linkState = 'connecting';
    this.nextTry = 0;
    this.lostAt = null; // when the feed was lost: times stand still from then on
    this.actions = new Actions();
    this.tasks = new TasksPanel(this.job, this.actions);
    this.keys = new KeysPanel();
    this.recorded = new RecordedTime((message) => this.take(message));
    this.chart = new LatencyChart(byId('chart'), byId('chart-canvas'), byId('chart-reading'));
    this.events = new EventsPanel();
    this.theme = new Theme(() => this.recolour());
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
    byId('rounds-name').addEventListener('change', () => this.showRounds());
    byId('verdict-show').addEventListener('click', ({target}) => this.showMissing(target.barrier));
    byId('barriers').addEventListener('click', ({target}) => {
      const {barrier} = target.closest('li');
      if (target.matches('.show')) this.showMissing(barrier);
      if (target.matches('.cancel')) this.actions.cancel(barrier);
    });
    document.addEventListener('click', ({target}) => {
      const {task, host} = target.dataset;
      if (task !== undefined) this.tasks.selectAndSee(Number(task));
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

  now() {
    return this.lostAt ?? performance.now();
  }

  take(message) {
    const isFirst = !this.job.facts;
    const now = performance.now();
    this.job.apply(message, now);
    if (!this.job.facts) return;
    if (message.recorded) {
      this.lostAt = now; // the moment stands still
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
    this.tick();
    showFigures(this.job);
    showLatecomers(this.job);
    this.showRounds();
    this.keys.show(this.job.facts, this.now(), this.recorded.at);
    this.events.show(this.job.events);
  }

  tick() {
    if (this.linkState === 'waiting') this.showLinkText();
    if (!this.job.facts) return;
    const now = this.now();
    this.job.look(now);
    showHeader(this.job, now);
    showVerdict(this.job, (barrier) => this.tasks.isShowing(barrier));
    showBarriers(this.job, now, (barrier) => this.tasks.isShowing(barrier));
    showWaits(this.job, now);
    showHosts(this.job, now, this.colours);
    this.tasks.show(now);
    this.showTitle();
  }

  showRounds() {
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
    const name = select.value;
    this.chart.show(name ? rounds.filter((round) => round.name === name) : rounds);
  }

  // The tab says at once how the job is.
  showTitle() {
    const [sign, colour] = {
      bad: ['✕ ', 'failed'],
      warn: ['⚠ ', 'suspect'],
      good: ['', 'connected'],
    }[levelOf(this.job.facts)];
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
    this.chart.recolour();
  }

  showLink(state, at) {
    if (state === 'live') {
      this.lostAt = null;
      announce('live');
      this.actions.findRole();
    } else {
      if (this.linkState === 'live') announce('The connection is lost.');
      this.lostAt ??= performance.now();
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

new Page();
