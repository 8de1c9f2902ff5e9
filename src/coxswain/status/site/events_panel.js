// The log of events, newest first, and its filter.

const SEVERITIES = ['info', 'warning', 'error'];

class EventsPanel {
  constructor() {
    this.events = [];
    this.restore();
    byId('severity').addEventListener('change', () => this.filter());
    byId('events-text').addEventListener('input', () => this.filter());
  }

  show(events) {
    if (events === this.events) return;
    this.events = events;
    this.draw();
  }

  // What an address says that this page has made.
  restore() {
    const severity = address.get('severity');
    byId('severity').value = SEVERITIES.includes(severity) ? severity : SEVERITIES[0];
    byId('events-text').value = address.get('contains') ?? '';
    this.draw();
  }

  filter() {
    const severity = byId('severity').value;
    address.set({
      severity: severity === SEVERITIES[0] ? null : severity,
      contains: byId('events-text').value,
    });
    this.draw();
  }

  draw() {
    const least = SEVERITIES.indexOf(byId('severity').value);
    const text = byId('events-text').value.toLowerCase();
    const shown = this.events.filter(
      (event) =>
        SEVERITIES.indexOf(event.severity) >= least && event.text.toLowerCase().includes(text),
    );
    keepInStep(
      byId('events'),
      shown.reverse(),
      ({number}) => number,
      makeEvent,
      () => {},
    );
    byId('events').hidden = shown.length === 0;
    setText(byId('events-none'), this.events.length > 0 ? 'No such event.' : 'No events yet.');
    byId('events-none').hidden = shown.length > 0;
    setText(
      byId('events-count'),
      shown.length === this.events.length
        ? textOfCount(shown.length)
        : `${textOfCount(shown.length)} of ${textOfCount(this.events.length)}`,
    );
  }
}

function makeEvent(event) {
  const text = make('span', {className: 'text'});
  setLinked(text, textOfEvent(event));
  return make(
    'li',
    {className: event.severity},
    // The coordinator's local time; the rest as a tooltip.
    make('time', {
      textContent: event.time.slice(11, 23),
      dateTime: event.time,
      title: `${event.time}, ${textOfMoment(event.at_ms)} after the start`,
    }),
    make('span', {className: 'severity', textContent: event.severity}),
    text,
  );
}

function textOfEvent({text, count, tasks, tasks_cut: cut}) {
  if (count === 1) return text;
  const about = tasks ? `, of ${textOfTasks(tasks, cut)}` : '';
  return `${text} [${textOfCount(count)} like this${about}]`;
}
