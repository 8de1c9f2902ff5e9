// What stands beside the grid: header, figures, stragglers, hosts. Each function puts what the job
// says at `now` into its part of the page.

const STRAGGLERS_MAX = 50;
const HOSTS_MAX = 100;

function showHeader(job, now) {
  const {facts} = job;
  setText(byId('job'), facts.job);
  byId('has-address').hidden = !job.address;
  setText(byId('address'), job.address);
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
  const behind = lag === 0 ? 'none' : `${textOfCount(lag)}, ${textOfSeconds(age)}`;
  return `${address} · term ${term} · lag ${behind}`;
}

function figuresOf(job) {
  const {facts} = job;
  const there = job.tasks.filter(({state, suspect}) => state === 'connected' && !suspect).length;
  return [
    ['Connected', textOfCount(there), `of ${textOfCount(job.tasks.length)}`],
    ['Barriers passed', textOfCount(job.roundsEnded()), ''],
    ['Open barriers', textOfCount(job.barriers.length + job.barriersMore), ''],
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

// How long a list is, and what stands there when it is empty.
function showSize(name, size, more) {
  setText(byId(`${name}-count`), size > 0 ? textOfCount(size + more) : '');
  byId(`${name}-none`).hidden = size > 0;
  byId(`${name}-more`).hidden = more === 0;
  setText(byId(`${name}-more`), `and ${textOfCount(more)} more`);
}

// The name of a host, which shows its tasks.
function hostButton(name) {
  const button = make('button', {type: 'button', className: 'task-link', textContent: name});
  button.dataset.host = name;
  return button;
}

function makeStraggler({host, tasks}) {
  const [task] = tasks;
  return make(
    'tr',
    {},
    make(
      'th',
      {scope: 'row'},
      host === null ? tasksButton(String(task)) : hostButton(host),
      make('span', {className: 'which'}),
    ),
    make('td', {className: 'share'}, make('span'), make('i')),
    make('td'),
    make('td'),
  );
}

// The bars are compared with that of the one that comes last most often.
function updateStraggler(row, {host, tasks, times, sum, longest}, most) {
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

function showStragglers(job) {
  const {all, of} = job.stragglers();
  keepInStep(
    byId('stragglers'),
    all.slice(0, STRAGGLERS_MAX),
    ({host, tasks}) => host ?? `task ${[...tasks][0]}`,
    makeStraggler,
    (row, one) => updateStraggler(row, one, all[0].times),
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
