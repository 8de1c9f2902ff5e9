// How many steps the job made per minute. A step is a round of the barrier that has the most of
// them, or of any barrier where each round has a name of its own; without rounds, a step that the
// slowest task has reported.

const PACE_POINTS = 60;
const PACE_OF_STEPS = 16; // the latest ones, for the present pace
const SAME_NAME_MIN = 4;
const SILENT_STEPS = 3; // without a step for so many, the job has no pace

class PaceChart extends TimeChart {
  title = 'steps per minute';

  show(job, span, timeOfDay, now) {
    const {of, marks} = stepsOf(job);
    const gaps = marks
      .slice(1)
      .map(({at, made}, place) => (at - marks[place].at) / (made - marks[place].made));
    this.of = of;
    this.silence = now - (marks[marks.length - 1]?.at ?? now);
    this.step = medianOf(gaps.slice(-PACE_OF_STEPS)); // in milliseconds
    this.usualStep = medianOf(gaps);
    const points = this.step > 0 ? pacesOf(marks, span, this.step) : [];
    this.highest = roundAbove(points.reduce((most, {pace}) => Math.max(most, pace), 1));
    this.showPoints(points, span, timeOfDay);
  }

  valueOf({pace}) {
    return pace;
  }

  y(pace) {
    return this.height(pace / this.highest);
  }

  ticks() {
    const highest = this.highest ?? 1;
    return [0, 0.5, 1].map((part) => ({value: part * highest, text: textOfPace(part * highest)}));
  }

  drawPoints() {
    const {context} = this;
    context.beginPath();
    this.points.forEach(({at_ms: at, pace}) => context.lineTo(this.x(at), this.y(pace)));
    context.lineWidth = 2;
    context.strokeStyle = this.colours.accent;
    context.stroke();
    context.lineTo(this.x(this.points[this.points.length - 1].at_ms), this.bottom);
    context.lineTo(this.x(this.points[0].at_ms), this.bottom);
    context.globalAlpha = 0.15;
    context.fillStyle = this.colours.accent;
    context.fill();
    context.globalAlpha = 1;
  }

  textOf({at_ms: at, pace}) {
    return `${this.timeOfDay(at)}: ${textOfPace(pace)} steps per minute`;
  }

  summary() {
    if (this.points.length === 0) return 'Too few steps have finished yet.';
    const usual = `${textOfPace(60000 / this.usualStep)} per minute in the median (${this.of}).`;
    return this.silence > SILENT_STEPS * this.step
      ? `No step for ${textOfSeconds(this.silence)}; ${usual}`
      : `Now ${textOfPace(60000 / this.step)} steps per minute; ${usual}`;
  }
}

// When how many steps had been made, oldest first, and what they are.
function stepsOf({rounds, steps}) {
  const passed = rounds.filter(({outcome}) => outcome === 'OK');
  if (passed.length < 2) {
    return {of: 'reported steps', marks: steps.map(({at_ms: at, step}) => ({at, made: step}))};
  }
  const counts = new Map();
  for (const {name} of passed) counts.set(name, (counts.get(name) ?? 0) + 1);
  const [[name, most]] = [...counts].sort(([, a], [, b]) => b - a);
  const isOne = most >= SAME_NAME_MIN;
  const found = isOne ? passed.filter((round) => round.name === name) : passed;
  return {
    of: isOne ? `rounds of ‘${name}’` : 'rounds of all barriers',
    marks: found.map(({at_ms: at}, made) => ({at, made})),
  };
}

// The pace at moments of the span. A step counts evenly from the end of the one before to its own;
// the next one as if it took as long as usual, so that the pace falls to zero when it does not end.
function pacesOf(marks, {from, to}, step) {
  const last = marks[marks.length - 1];
  const all = [...marks, {at: last.at + step, made: last.made + 1}];
  let place = 0;
  // How many steps had been made by then, with the part of the one that went on.
  const madeBy = (at) => {
    while (place + 1 < all.length && all[place + 1].at <= at) ++place;
    const [before, after] = [all[place], all[place + 1]];
    if (!after || at <= before.at) return before.made;
    const part = (at - before.at) / (after.at - before.at);
    return before.made + part * (after.made - before.made);
  };
  const width = Math.max((to - from) / PACE_POINTS, 1);
  const points = [];
  let before = Math.max(from, marks[0].at);
  let made = madeBy(before);
  for (let at = before + width; at <= to + 1; at += width) {
    const now = madeBy(at);
    points.push({at_ms: (before + at) / 2, pace: ((now - made) * 60000) / (at - before)});
    [before, made] = [at, now];
  }
  return points;
}

function medianOf(numbers) {
  return numbers.length === 0 ? 0 : quantile([...numbers].sort((a, b) => a - b), 0.5);
}

// The next number of 1, 2 or 5 with zeros.
function roundAbove(value) {
  const decade = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * decade).find((one) => one >= value);
}

function textOfPace(pace) {
  return pace < 10 ? String(Math.round(10 * pace) / 10) : textOfCount(Math.round(pace));
}
