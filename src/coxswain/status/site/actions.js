// What an operator does, each after a confirmation. Readers see no buttons for it.

const ROLES_THAT_ACT = ['operator', 'worker'];

class Actions {
  constructor() {
    this.asked = null; // {path, body, done}
    byId('confirm-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.act();
    });
    byId('confirm-no').addEventListener('click', () => byId('confirm').close());
    byId('stop').addEventListener('click', () => this.stop());
    byId('drain').addEventListener('click', () => this.drain());
  }

  async findRole() {
    const answer = await fetch('api/v1/role', {cache: 'no-store'}).catch(() => null);
    const role = answer?.ok ? (await answer.json()).role : null;
    document.body.classList.toggle('can-act', ROLES_THAT_ACT.includes(role));
  }

  cancel({name, round, arrived, expected}) {
    this.ask({
      title: `Cancel round ${round} of ‘${name}’?`,
      text:
        `${textOfCount(arrived)} of ${plural(expected, 'task')} wait there. ` +
        'They, and those still to come, get CANCELLED from this round.',
      button: 'Cancel the round',
      path: 'api/v1/cancel',
      body: () => ({barrier: name, round}),
      done: `Round ${round} of ‘${name}’ was cancelled.`,
    });
  }

  preempt(task) {
    this.ask({
      title: `Preempt task ${task}?`,
      text: 'All tasks agree on a step at which they save their state and stop.',
      field: 'Time until the task is taken away',
      value: '10m',
      button: 'Preempt the task',
      path: 'api/v1/preempt',
      body: (value) => ({task, in: value}),
      done: `The notice for task ${task} was posted.`,
    });
  }

  stop() {
    this.ask({
      title: 'Stop the job?',
      text:
        'The coordinator ends every waiting call, says goodbye to all tasks, and exits. The job ' +
        'cannot go on without it.',
      button: 'Stop the job',
      path: 'api/v1/stop',
      body: () => ({}),
      done: 'The coordinator is stopping.',
    });
  }

  drain() {
    this.ask({
      title: 'Drain the job?',
      text: 'No further process can join. The job ends when all of its tasks have left.',
      button: 'Drain the job',
      path: 'api/v1/drain',
      body: () => ({}),
      done: 'The job is draining: it ends when all tasks have left.',
    });
  }

  ask(what) {
    this.asked = what;
    setText(byId('confirm-title'), what.title);
    setText(byId('confirm-text'), what.text);
    setText(byId('confirm-yes'), what.button);
    setText(byId('confirm-refused'), '');
    byId('confirm-field').hidden = !what.field;
    setText(byId('confirm-label'), what.field ?? '');
    byId('confirm-value').value = what.value ?? '';
    byId('confirm').showModal();
    (what.field ? byId('confirm-value') : byId('confirm-no')).focus();
  }

  async act() {
    const {path, body, done} = this.asked;
    byId('confirm-yes').disabled = true;
    const answer = await posted(path, body(byId('confirm-value').value));
    byId('confirm-yes').disabled = false;
    if (answer?.ok) {
      byId('confirm').close();
      return notify(done);
    }
    setText(byId('confirm-refused'), await whyRefused(answer));
  }
}

// The response; null: there was none.
function posted(path, body) {
  const headers = {'Content-Type': 'application/json'};
  return fetch(path, {method: 'POST', headers, body: JSON.stringify(body)}).catch(() => null);
}

async function whyRefused(answer) {
  if (!answer) return 'The coordinator cannot be reached.';
  const reply = await answer.json().catch(() => null);
  return reply?.message ?? `The coordinator answered ${answer.status}.`;
}

// A line at the bottom, for a while.
function notify(text) {
  const line = byId('notice');
  setText(line, text);
  line.hidden = false;
  clearTimeout(notify.timer);
  notify.timer = setTimeout(() => {
    line.hidden = true;
  }, 6000);
}
