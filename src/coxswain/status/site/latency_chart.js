// How long rounds of barriers took, from the first arrival to the last. The scale is logarithmic,
// in whole decades.

const BUCKET_WIDTH = 6; // in pixels, when there are too many rounds to show each
const SPREAD_MIN_MS = 0.01;

class LatencyChart extends TimeChart {
  title = 'from the first arrival to the last';

  show(rounds, span, timeOfDay) {
    const spreads = rounds.map((round) => Math.max(SPREAD_MIN_MS, round.spread_ms));
    this.low = Math.floor(Math.log10(spreads.reduce((a, b) => Math.min(a, b), Infinity)));
    const high = Math.ceil(Math.log10(spreads.reduce((a, b) => Math.max(a, b), 0)));
    if (spreads.length === 0) this.low = 0;
    this.decades = spreads.length === 0 ? 3 : Math.max(1, high - this.low);
    this.showPoints(rounds, span, timeOfDay);
  }

  valueOf(round) {
    return Math.max(SPREAD_MIN_MS, round.spread_ms);
  }

  y(ms) {
    return this.height((Math.log10(ms) - this.low) / this.decades);
  }

  ticks() {
    return Array.from({length: (this.decades ?? 3) + 1}, (_, above) => {
      const power = (this.low ?? 0) + above;
      return {value: 10 ** power, text: textOfDecade(power)};
    });
  }

  isDense() {
    return this.points.length > (this.right - this.left) / 4;
  }

  drawPoints() {
    if (this.isDense()) {
      this.drawBuckets();
    } else {
      for (const round of this.points) if (round.outcome === 'OK') this.dot(round);
    }
    for (const round of this.points) if (round.outcome !== 'OK') this.cross(round);
  }

  dot(round) {
    this.context.fillStyle = this.colours.accent;
    this.context.beginPath();
    this.context.arc(this.x(round.at_ms), this.y(this.valueOf(round)), 2.5, 0, 2 * Math.PI);
    this.context.fill();
  }

  // Each bucket: a bar from the median to the largest, and the median.
  drawBuckets() {
    const buckets = new Map();
    for (const round of this.points) {
      const bucket = Math.floor(this.x(round.at_ms) / BUCKET_WIDTH);
      if (!buckets.has(bucket)) buckets.set(bucket, []);
      buckets.get(bucket).push(this.valueOf(round));
    }
    for (const [bucket, spreads] of buckets) {
      spreads.sort((a, b) => a - b);
      const left = bucket * BUCKET_WIDTH + 1;
      const width = BUCKET_WIDTH - 2;
      const median = this.y(quantile(spreads, 0.5));
      const largest = this.y(spreads[spreads.length - 1]);
      this.context.fillStyle = this.colours.accent;
      this.context.globalAlpha = 0.35;
      this.context.fillRect(left, largest, width, median - largest);
      this.context.globalAlpha = 1;
      this.context.fillRect(left, median - 1, width, 2);
    }
  }

  cross(round) {
    const [x, y] = [this.x(round.at_ms), this.y(this.valueOf(round))];
    this.context.lineWidth = 2;
    this.line(this.colours.failed, [x - 4, y - 4], [x + 4, y + 4]);
    this.line(this.colours.failed, [x - 4, y + 4], [x + 4, y - 4]);
  }

  textOf(round) {
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

  summary() {
    const spreads = this.points.map((round) => round.spread_ms).sort((a, b) => a - b);
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
