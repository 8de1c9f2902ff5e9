// The grid of all tasks, on a canvas; and the selection in it.

const GRID_HEIGHT_MAX = 480;
const RING_SIZE_MAX = 12; // marks smaller than this get a ring when they need attention
const RINGS_MAX = 64; // more of them need no ring to be seen

class TaskGrid {
  // `onSelect` is told the number of the task that is looked at, or null, and whether the pointer
  // only hovers.
  constructor(host, canvas, onSelect) {
    this.host = host;
    this.canvas = canvas;
    this.onSelect = onSelect;
    this.shown = new Uint8Array(0);
    this.isBright = null; // a function of a task's number; null: all are
    this.selected = null;
    this.hovered = null;
    this.layout = null;
    this.stamps = null; // each state's mark
    this.image = null; // all marks; null: what they show has changed
    this.recolour();
    new ResizeObserver(() => this.resize()).observe(host);
    window.addEventListener('resize', () => this.resize());
    host.addEventListener('keydown', (event) => this.key(event));
    canvas.addEventListener('pointermove', (event) => this.hover(event));
    canvas.addEventListener('pointerleave', () => this.setHovered(null));
    canvas.addEventListener('click', (event) => this.select(this.taskUnder(event)));
  }

  recolour() {
    this.colours = coloursOf(MARK_COLOURS);
    this.stamps = null;
    this.redrawSoon();
  }

  show(shown) {
    const isOther = shown.length !== this.shown.length;
    this.shown = shown;
    if (this.selected !== null && this.selected >= shown.length) this.select(null);
    if (isOther) {
      this.resize();
    } else {
      this.redrawSoon();
    }
  }

  brighten(isBright) {
    this.isBright = isBright;
    this.redrawSoon();
  }

  select(number) {
    this.selected = number;
    this.onSelect(number, false);
    this.drawSoon();
  }

  resize() {
    const width = this.host.clientWidth;
    if (this.shown.length === 0 || width < WIDTH_MIN) return;
    this.ratio = window.devicePixelRatio;
    const height = Math.min(GRID_HEIGHT_MAX, window.innerHeight * 0.6);
    this.layout = layOut(this.shown.length, width, height);
    this.context = sized(this.canvas, width, heightOf(this.layout));
    this.stamps = null;
    this.image = null;
    this.draw();
  }

  redrawSoon() {
    this.image = null;
    this.drawSoon();
  }

  drawSoon() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.draw();
    });
  }

  draw() {
    if (!this.layout || this.layout.count !== this.shown.length) return;
    // It may have come to another screen.
    if (this.ratio !== window.devicePixelRatio) return this.resize();
    this.image ??= this.makeImage();
    this.context.putImageData(this.image, 0, 0);
    this.drawNumbers();
    this.drawLabels();
    this.drawRings();
    if (this.hovered !== null) this.outline(this.hovered, this.colours.muted, 1);
    if (this.selected !== null) this.outline(this.selected, this.colours.text, 2);
  }

  // All marks. Copying pixels takes a small part of the time that drawing each mark does.
  makeImage() {
    this.stamps ??= makeStamps(this.layout.size, this.colours);
    const image = this.context.createImageData(this.canvas.width, this.canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let number = 0; number < this.shown.length; ++number) {
      const {x, y} = placeOf(this.layout, number);
      const stamps = this.isLit(number) ? this.stamps.bright : this.stamps.dim;
      copyStamp(stamps[this.shown[number]], pixels, image.width, x, y);
    }
    return image;
  }

  isLit(number) {
    return !this.isBright || this.isBright(number);
  }

  drawLabels() {
    const {rows, columns, pitch, left, size, labelEvery} = this.layout;
    if (size >= NUMBER_SIZE_MIN) return;
    this.setFont(10, 'right');
    this.context.fillStyle = this.colours.muted;
    for (let row = 0; row < rows; row += labelEvery) {
      this.context.fillText(
        String(row * columns),
        left - 8,
        EDGE + row * pitch + Math.max(5, size / 2),
      );
    }
  }

  setFont(size, align) {
    this.context.font = `500 ${size}px ${getComputedStyle(this.host).fontFamily}`;
    this.context.textAlign = align;
    this.context.textBaseline = 'middle';
  }

  drawNumbers() {
    const {size} = this.layout;
    if (size < NUMBER_SIZE_MIN) return;
    this.setFont(size >= PITCH_MAX ? 14 : 11, 'center');
    for (let number = 0; number < this.shown.length; ++number) {
      const {x, y} = placeOf(this.layout, number);
      this.context.globalAlpha = this.isLit(number) ? 1 : DIMMED;
      drawNumber(this.context, STATES[this.shown[number]].name, number, x, y, size, this.colours);
    }
    this.context.globalAlpha = 1;
  }

  // One failed task among ten thousand is to be seen.
  drawRings() {
    const {size} = this.layout;
    if (size >= RING_SIZE_MAX) return;
    for (const name of ['suspect', 'failed']) {
      const state = STATE_NUMBER[name];
      const numbers = [];
      this.shown.forEach((one, number) => one === state && numbers.push(number));
      if (numbers.length > RINGS_MAX) continue;
      for (const number of numbers) this.ring(number, size, this.colours[name]);
    }
  }

  ring(number, size, colour) {
    const {x, y} = placeOf(this.layout, number);
    this.context.beginPath();
    this.context.arc(x + size / 2, y + size / 2, size / 2 + 4, 0, 2 * Math.PI);
    this.context.lineWidth = 4;
    this.context.strokeStyle = this.colours.surface;
    this.context.stroke();
    this.context.lineWidth = 2;
    this.context.strokeStyle = colour;
    this.context.stroke();
  }

  outline(number, colour, width) {
    const {x, y} = placeOf(this.layout, number);
    const {size} = this.layout;
    this.context.beginPath();
    this.context.roundRect(x - 1.5, y - 1.5, size + 3, size + 3, size >= 20 ? 5 : 2);
    this.context.lineWidth = width;
    this.context.strokeStyle = colour;
    this.context.stroke();
  }

  taskUnder(event) {
    return this.layout ? taskAt(this.layout, event.offsetX, event.offsetY) : null;
  }

  hover(event) {
    if (event.pointerType !== 'touch') this.setHovered(this.taskUnder(event));
  }

  setHovered(number) {
    if (number === this.hovered) return;
    this.hovered = number;
    this.onSelect(number ?? this.selected, true);
    this.drawSoon();
  }

  key(event) {
    if (!this.layout || event.altKey || event.ctrlKey || event.metaKey) return;
    const {columns, rows} = this.layout;
    const page = Math.max(1, Math.floor(rows / 4)) * columns;
    const steps = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: -columns,
      ArrowDown: columns,
      PageUp: -page,
      PageDown: page,
      Home: -Infinity,
      End: Infinity,
    };
    if (event.key === 'Escape') {
      this.select(null);
    } else if (event.key in steps) {
      event.preventDefault();
      this.step(steps[event.key]);
    }
  }

  // The first step only begins the selection.
  step(by) {
    const last = this.shown.length - 1;
    const from = this.selected ?? (Number.isFinite(by) ? -by : 0);
    const to = from + by;
    if (Math.abs(by) > 1 && Number.isFinite(by) && (to < 0 || to > last)) return;
    this.select(Math.min(last, Math.max(0, to)));
  }
}
