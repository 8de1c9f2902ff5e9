// A chart over time, with labelled axes: what those of the page have in common. A kind of chart
// has the points, their scale, and the words for them.

const CHART_HEIGHT = 232;
const CHART_EDGE = {left: 56, right: 12, top: 28, bottom: 40};
const TIME_LABEL_WIDTH = 96;

class TimeChart {
  constructor(name) {
    this.host = byId(name);
    this.canvas = byId(`${name}-canvas`);
    this.reading = byId(`${name}-reading`);
    this.points = []; // what can be read, oldest first, each with its `at_ms`
    this.read = null; // the place of the point that is looked at
    this.span = {from: 0, to: 1000};
    this.timeOfDay = textOfClock;
    this.colours = coloursOf(MARK_COLOURS);
    new ResizeObserver(() => this.draw()).observe(this.host);
    this.host.addEventListener('keydown', (event) => this.key(event));
    this.canvas.addEventListener('pointermove', ({offsetX: x}) => this.setRead(this.nearest(x)));
    this.canvas.addEventListener('pointerleave', () => this.setRead(null));
  }

  recolour() {
    this.colours = coloursOf(MARK_COLOURS);
    this.draw();
  }

  // `span`: from when to when, in milliseconds; `timeOfDay` gives the labels of such times.
  showPoints(points, span, timeOfDay) {
    const wasAt = this.points[this.read]?.at_ms;
    this.points = points;
    this.span = span;
    this.timeOfDay = timeOfDay;
    const isThere = wasAt === undefined ? -1 : points.findIndex(({at_ms: at}) => at === wasAt);
    this.setRead(isThere < 0 ? null : isThere);
  }

  setRead(place) {
    this.read = place;
    this.draw();
    const point = this.points[place];
    setText(this.reading, point ? this.textOf(point) : this.summary());
    const label = `${this.title}. ${this.summary()} Arrow keys read values.`;
    this.host.setAttribute('aria-label', label);
  }

  draw() {
    const width = this.host.clientWidth;
    if (width === 0) return;
    this.context = sized(this.canvas, width, CHART_HEIGHT);
    this.context.font = `11px ${getComputedStyle(this.host).fontFamily}`;
    this.left = CHART_EDGE.left;
    this.right = width - CHART_EDGE.right;
    this.top = CHART_EDGE.top;
    this.bottom = CHART_HEIGHT - CHART_EDGE.bottom;
    this.drawAxes();
    if (this.points.length === 0) return;
    this.drawPoints();
    const point = this.points[this.read];
    if (!point) return;
    const [x, y] = [this.x(point.at_ms), this.y(this.valueOf(point))];
    this.context.lineWidth = 1;
    this.line(this.colours.muted, [x, this.top], [x, this.bottom]);
    this.context.lineWidth = 2;
    this.context.strokeStyle = this.colours.text;
    this.context.beginPath();
    this.context.arc(x, y, 4.5, 0, 2 * Math.PI);
    this.context.stroke();
  }

  x(at) {
    const {from, to} = this.span;
    return this.left + ((at - from) / (to - from)) * (this.right - this.left);
  }

  // `share` of the height, from the bottom.
  height(share) {
    return this.bottom - share * (this.bottom - this.top);
  }

  drawAxes() {
    this.context.lineWidth = 1;
    for (const {value, text} of this.ticks()) {
      const y = Math.round(this.y(value)) + 0.5;
      this.line(this.colours.line, [this.left, y], [this.right, y]);
      this.label(text, this.left - 8, y, 'right');
    }
    this.label(this.title, 0, 8, 'left');
    if (this.points.length === 0) return;
    const {from, to} = this.span;
    const parts = Math.max(1, Math.floor((this.right - this.left) / TIME_LABEL_WIDTH));
    for (let part = 0; part <= parts; ++part) {
      const at = from + (part / parts) * (to - from);
      const align = part === 0 ? 'left' : part === parts ? 'right' : 'center';
      this.label(this.timeOfDay(at), this.x(at), this.bottom + 12, align);
    }
    this.label('time of day', (this.left + this.right) / 2, this.bottom + 30, 'center');
  }

  label(text, x, y, align) {
    this.context.fillStyle = this.colours.muted;
    this.context.textAlign = align;
    this.context.textBaseline = 'middle';
    this.context.fillText(text, x, y);
  }

  line(colour, from, to) {
    this.context.strokeStyle = colour;
    this.context.beginPath();
    this.context.moveTo(...from);
    this.context.lineTo(...to);
    this.context.stroke();
  }

  nearest(x) {
    let [best, least] = [null, Infinity];
    this.points.forEach(({at_ms: at}, place) => {
      const distance = Math.abs(this.x(at) - x);
      if (distance < least) [best, least] = [place, distance];
    });
    return best;
  }

  key(event) {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (event.key === 'Escape') this.setRead(null);
    if (!by || this.points.length === 0) return;
    event.preventDefault();
    const last = this.points.length - 1;
    this.setRead(Math.min(last, Math.max(0, (this.read ?? last - by) + by)));
  }
}
