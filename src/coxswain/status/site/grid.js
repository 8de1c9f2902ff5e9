// The grid of all tasks, on a canvas; and the selection in it.

const RING_SIZE_MAX = 12; // marks smaller than this get a ring when they need attention
const RINGS_MAX = 64; // more of them need no ring to be seen

class TaskGrid {
  // `onSelect` gets the number of the task that is looked at, or null, and whether the pointer
  // only hovers.
  constructor(host, canvas, onSelect) {
    this.host = host;
    this.canvas = canvas;
    this.onSelect = onSelect;
    this.shown = new Uint8Array(0);
    this.hosts = []; // with the worst state of each; empty: they are not grouped
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

  // `hosts` as in Job; empty: in the order of their numbers. `states` are those of the hosts.
  show(shown, hosts, states) {
    const isOther = shown.length !== this.shown.length || hosts !== this.hosts;
    const isSame = !isOther && shown.every((state, number) => state === this.shown[number]);
    this.shown = shown;
    this.hosts = hosts;
    this.states = states;
    if (this.selected !== null && this.selected >= shown.length) this.select(null);
    if (this.hovered !== null && this.hovered >= shown.length) this.setHovered(null);
    if (isOther) {
      this.layout = null; // without tasks, or without room, there is none
      this.resize();
    } else if (!isSame) {
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
    const count = this.shown.length;
    const height = gridHeight(count, window.innerHeight);
    this.host.style.height = `${height}px`;
    this.layout =
      this.hosts.length > 0
        ? layOutHosts(this.hosts, count, width, height)
        : layOut(count, width, height);
    this.context = sized(this.canvas, width, this.layout.height);
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
    this.drawHosts();
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
    if (size >= NUMBER_SIZE_MIN || !rows) return;
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

  // The names of hosts; without room for names, a frame around each that is in trouble as a whole.
  drawHosts() {
    this.framed = new Set();
    this.layout.blocks.forEach(({name, tasks, left, top, width, height}, place) => {
      if (name === undefined) return;
      const state = STATES[this.states[place]].name;
      const isTroubled = TROUBLES.includes(state);
      if (this.layout.isNamed) {
        this.setFont(11, 'left');
        this.context.fillStyle = isTroubled ? this.colours.text : this.colours.muted;
        const beside = isTroubled ? 14 : 0; // for the mark
        const text = fitted(this.context, name ?? 'no host yet', width + BLOCK_GAP - beside);
        if (isTroubled) this.stampName(state, left, top - NAME_HEIGHT + 4);
        this.context.fillText(text, left + beside, top - NAME_HEIGHT / 2);
      } else if (this.isLost(tasks)) {
        const gap = gapOf(this.layout.pitch);
        this.context.lineWidth = 1;
        this.context.strokeStyle = this.colours[state];
        for (const number of tasks) this.framed.add(number);
        this.context.strokeRect(left - 1.5, top - 1.5, width - gap + 3, height - gap + 3);
      }
    });
  }

  // All of them are in trouble.
  isLost(tasks) {
    return tasks.every((number) => TROUBLES.includes(STATES[this.shown[number]].name));
  }

  stampName(state, x, y) {
    this.context.save();
    this.context.translate(x, y);
    drawMark(this.context, state, 10, this.colours);
    this.context.restore();
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
    for (const name of TROUBLES) {
      const state = STATE_NUMBER[name];
      const numbers = [];
      this.shown.forEach((one, number) => {
        // Of several side by side, the first.
        const isFirst = one === state && this.shown[number - 1] !== state;
        if (isFirst && !this.framed.has(number)) numbers.push(number);
      });
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
    const page = Math.ceil(this.shown.length / 8);
    const steps = {
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      ArrowUp: () => this.climb(-1),
      ArrowDown: () => this.climb(1),
      PageUp: () => this.step(-page),
      PageDown: () => this.step(page),
      Home: () => this.step(-Infinity),
      End: () => this.step(Infinity),
    };
    if (!(event.key in steps)) return;
    event.preventDefault();
    steps[event.key]();
  }

  // In the order in which the tasks are shown. The first step only begins the selection.
  step(by) {
    const order = this.layout.blocks.flatMap(({tasks}) => tasks);
    const from = this.selected === null ? (by > 0 ? -1 : 1) : order.indexOf(this.selected);
    const to = Math.min(order.length - 1, Math.max(0, from + by));
    this.selectAndScroll(this.selected === null && Number.isFinite(by) ? order[0] : order[to]);
  }

  climb(direction) {
    if (this.selected === null) return this.step(1);
    const next = taskBeyond(this.layout, this.selected, direction);
    if (next !== null) this.selectAndScroll(next);
  }

  selectAndScroll(number) {
    this.select(number);
    this.reveal(number);
  }

  // Where a task's tile is in the panel that the grid is in; null: it has none.
  tileOf(number) {
    if (!this.layout || number >= this.layout.count) return null;
    const {x, y} = placeOf(this.layout, number);
    const {size} = this.layout;
    const left = this.host.offsetLeft + x;
    const top = this.host.offsetTop + y - this.host.scrollTop;
    return {left, top, right: left + size, bottom: top + size};
  }

  // Where the marks are higher than the grid, it is scrolled.
  reveal(number) {
    if (!this.layout) return;
    const {y} = placeOf(this.layout, number);
    const {scrollTop, clientHeight} = this.host;
    if (y < scrollTop || y + this.layout.pitch > scrollTop + clientHeight) {
      this.host.scrollTop = y - clientHeight / 2;
    }
  }
}

// As much of the text as there is room for.
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 1 && context.measureText(`…${text.slice(-length)}`).width > width) --length;
  return `…${text.slice(-length)}`;
}
