// The slider of a recording: the moment of it that the page shows.

const SLIDER_STEPS_MAX = 10000;

class RecordedTime {
  // `onMessage` is given the job at the chosen moment.
  constructor(onMessage) {
    this.onMessage = onMessage;
    this.at = null; // the moment that is shown, for requests; null: this is no recording
    this.span = null; // {first, length} in milliseconds
    this.wanted = null; // chosen while an answer was awaited
    this.isAsking = false;
    byId('recorded-slider').addEventListener('input', () => this.choose());
  }

  show({recorded, state}) {
    const {started, begins_ms: begins, ends_ms: ends} = recorded;
    const first = Math.floor(begins);
    this.span = {first, length: Math.max(1, Math.ceil(ends) - first)};
    this.at = `${Math.round(state.uptime_ms)}ms`;
    const slider = byId('recorded-slider');
    slider.max = this.steps();
    // What was chosen meanwhile stays.
    if (!this.isAsking) {
      slider.value = ((state.uptime_ms - first) / this.span.length) * this.steps();
    }
    const [moment, last] = [state.uptime_ms, ends].map(textOfMoment);
    const text = `at ${clockAt(started, state.uptime_ms)}, ${moment} of ${last} after the start`;
    setText(byId('recorded-moment'), text);
    slider.setAttribute('aria-valuetext', text);
    byId('recorded-lost').hidden = first === 0;
    setText(byId('recorded-lost'), `The first ${textOfSeconds(begins)} of the job are not in it.`);
    byId('recorded').hidden = false;
  }

  steps() {
    return Math.min(SLIDER_STEPS_MAX, this.span.length);
  }

  // One request at a time: of those chosen meanwhile only the last one is asked for.
  async choose() {
    const share = Number(byId('recorded-slider').value) / this.steps();
    this.wanted = Math.round(this.span.first + share * this.span.length);
    if (this.isAsking) return;
    this.isAsking = true;
    while (this.wanted !== null) {
      const at = `${this.wanted}ms`;
      this.wanted = null;
      const answer = await fetch(`api/v1/moment?at=${at}`, {cache: 'no-store'}).catch(() => null);
      const message = answer?.ok ? await answer.json() : null;
      if (message) {
        this.onMessage(message);
      } else {
        notify(await whyRefused(answer));
      }
    }
    this.isAsking = false;
  }
}
