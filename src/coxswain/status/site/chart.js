// The chart of how long rounds of barriers took, from the first arrival to the last, over time.

const CHART_HEIGHT = 228;
const CHART_EDGE = {left: 56, right: 12, top: 12, bottom: 24};
const BUCKET_WIDTH = 6; // in pixels, when there are too many rounds to show each
const SPREAD_MIN_MS = 0.01;

class LatencyChart {
  constructor(host, canvas, reading) {
    this.host = host;
    this.canvas = canvas;
    this.reading = reading;
    this.rounds = [];
    this.read = null; // the round that is looked at
    this.recolour();
    new ResizeObserver(() => this.draw()).observe(host);
    host.addEventListener('keydown', (event) => this.key(event));
    canvas.addEventListener('pointermove', (event) => this.readAt(event.offsetX));
    canvas.addEventListener('pointerleave', () => this.setRead(null));
  }

  recolour() {
    this.colours = coloursOf(MARK_COLOURS);
    this.draw();
  }

  show(rounds) {
    this.rounds = rounds;
    if (this.read && !rounds.includes(this.read)) this.read = null;
    this.draw();
    this.describe();
  }

  draw() {
    const width = this.host.clientWidth;
    if (width === 0) return;
    this.context = sized(this.canvas, width, CHART_HEIGHT);
    this.setFont();
    this.scales = this.makeScales(width);
    this.drawAxes();
    if (this.rounds.length === 0) return;
    if (this.isDense()) {
      this.drawBuckets();
    } else {
      this.rounds.forEach((round) => this.drawRound(round));
    }
    this.rounds
      .filter((round) => round.outcome !== 'OK')
      .forEach((round) => this.drawFailure(round));
    if (this.read) this.drawRead();
  }

  setFont() {
    this.context.font = `11px ${getComputedStyle(this.host).fontFamily}`;
  }

  isDense() {
    const {left, right} = this.scales;
    return this.rounds.length > (right - left) / 4;
  }

  // Time goes from left to right; the spread is logarithmic, in whole decades.
  makeScales(width) {
    const left = CHART_EDGE.left;
    const right = width - CHART_EDGE.right;
    const top = CHART_EDGE.top;
    const bottom = CHART_HEIGHT - CHART_EDGE.bottom;
    const spreads = this.rounds.map((round) => Math.max(SPREAD_MIN_MS, round.spread_ms));
    const low =
      spreads.length > 0 ? Math.floor(Math.log10(spreads.reduce((a, b) => Math.min(a, b)))) : 0;
    const high =
      spreads.length > 0 ? Math.ceil(Math.log10(spreads.reduce((a, b) => Math.max(a, b)))) : 3;
    const decades = Math.max(1, high - low);
    const from = this.rounds[0]?.at_ms ?? 0;
    const to = Math.max(from + 1000, this.rounds[this.rounds.length - 1]?.at_ms ?? 0);
    return {
      left,
      right,
      top,
      bottom,
      low,
      decades,
      from,
      to,
      x: (at) => left + ((at - from) / (to - from)) * (right - left),
      y: (ms) =>
        bottom - ((Math.log10(Math.max(SPREAD_MIN_MS, ms)) - low) / decades) * (bottom - top),
    };
  }

  drawAxes() {
    const {left, right, bottom, low, decades, from, to, y} = this.scales;
    this.context.lineWidth = 1;
    this.context.textBaseline = 'middle';
    this.context.textAlign = 'right';
    for (let power = low; power <= low + decades; ++power) {
      const height = Math.round(y(10 ** power)) + 0.5;
      this.line(this.colours.line, [left, height], [right, height]);
      this.context.fillStyle = this.colours.muted;
      this.context.fillText(textOfDecade(power), left - 8, height);
    }
    if (this.rounds.length === 0) return;
    this.context.textBaseline = 'alphabetic';
    this.context.textAlign = 'left';
    this.context.fillText(textOfClock(from), left, bottom + 18);
    this.context.textAlign = 'right';
    this.context.fillText(textOfClock(to), right, bottom + 18);
  }

  line(colour, from, to) {
    this.context.strokeStyle = colour;
    this.context.beginPath();
    this.context.moveTo(...from);
    this.context.lineTo(...to);
    this.context.stroke();
  }

  drawRound(round) {
    if (round.outcome !== 'OK') return;
    this.dot(this.scales.x(round.at_ms), this.scales.y(round.spread_ms), 2.5, this.colours.accent);
  }

  dot(x, y, radius, colour) {
    this.context.fillStyle = colour;
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.fill();
  }

  // Each bucket: a bar from the median to the largest, and the median.
  drawBuckets() {
    const {x, y} = this.scales;
    const buckets = new Map();
    for (const round of this.rounds) {
      const bucket = Math.floor(x(round.at_ms) / BUCKET_WIDTH);
      if (!buckets.has(bucket)) buckets.set(bucket, []);
      buckets.get(bucket).push(round.spread_ms);
    }
    for (const [bucket, spreads] of buckets) {
      spreads.sort((a, b) => a - b);
      const left = bucket * BUCKET_WIDTH + 1;
      const width = BUCKET_WIDTH - 2;
      const [median, largest] = [y(quantile(spreads, 0.5)), y(spreads[spreads.length - 1])];
      this.context.fillStyle = this.colours.accent;
      this.context.globalAlpha = 0.35;
      this.context.fillRect(left, largest, width, median - largest);
      this.context.globalAlpha = 1;
      this.context.fillRect(left, median - 1, width, 2);
    }
  }

  drawFailure(round) {
    const [x, y] = [this.scales.x(round.at_ms), this.scales.y(round.spread_ms)];
    this.context.lineWidth = 2;
    this.line(this.colours.failed, [x - 4, y - 4], [x + 4, y + 4]);
    this.line(this.colours.failed, [x - 4, y + 4], [x + 4, y - 4]);
  }

  drawRead() {
    const {top, bottom, x, y} = this.scales;
    const at = x(this.read.at_ms);
    this.context.lineWidth = 1;
    this.line(this.colours.muted, [at, top], [at, bottom]);
    this.context.lineWidth = 2;
    this.context.strokeStyle = this.colours.text;
    this.context.beginPath();
    this.context.arc(at, y(this.read.spread_ms), 4.5, 0, 2 * Math.PI);
    this.context.stroke();
  }

  readAt(x) {
    if (this.rounds.length === 0) return;
    const distance = (round) => Math.abs(this.scales.x(round.at_ms) - x);
    this.setRead(
      this.rounds.reduce((best, round) => (distance(round) < distance(best) ? round : best)),
    );
  }

  setRead(round) {
    this.read = round;
    this.draw();
    this.describe();
  }

  key(event) {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!by || this.rounds.length === 0) return;
    event.preventDefault();
    const last = this.rounds.length - 1;
    const from = this.read ? this.rounds.indexOf(this.read) : last - by;
    this.setRead(this.rounds[Math.min(last, Math.max(0, from + by))]);
  }

  // The reading in words: of the round that is looked at, or else of all.
  describe() {
    setText(this.reading, this.read ? textOfRound(this.read) : this.summary());
    this.host.setAttribute('aria-label', `${this.summary()} Left and right arrows read one round.`);
  }

  summary() {
    const spreads = this.rounds.map((round) => round.spread_ms).sort((a, b) => a - b);
    if (spreads.length === 0) return 'No round has finished yet.';
    const shown = this.isDense() ? ' Bars: median to longest.' : '';
    return (
      `${plural(spreads.length, 'round')}: median ${textOfDuration(quantile(spreads, 0.5))}, ` +
      `99 % within ${textOfDuration(quantile(spreads, 0.99))}, ` +
      `longest ${textOfDuration(spreads[spreads.length - 1])}.${shown}`
    );
  }
}

function textOfDecade(power) {
  return power < 3
    ? `${10 ** power} ms`.replace(/^1e-(\d+)/, (_, digits) => (10 ** -digits).toFixed(digits))
    : `${textOfCount(10 ** (power - 3))} s`;
}

function textOfRound(round) {
  const who =
    round.last_task === null
      ? ''
      : `; task ${round.last_task} last, ${textOfDuration(round.lag_ms)} after the median`;
  const outcome = round.outcome === 'OK' ? '' : `, ${round.outcome}`;
  return (
    `‘${round.name}’ round ${round.round}${outcome}: ${textOfDuration(round.spread_ms)} for ` +
    `${plural(round.tasks, 'task')}${who}`
  );
}
