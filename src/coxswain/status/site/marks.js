// How a task is drawn: one mark for each state, distinguished by colour and by shape.

const MARK_COLOURS = [
  'connected',
  'waiting',
  'missing',
  'stalled',
  'suspect',
  'failed',
  'ended',
  'joining',
  'returning',
  'never',
  'left',
  'on-mark',
  'on-failed',
  'surface',
  'text',
  'muted',
  'line',
  'accent',
];

// From these sizes on a mark has a glyph, and the number of its task.
const GLYPH_SIZE_MIN = 9;
const NUMBER_SIZE_MIN = 26;
const DIMMED = 0.16;

// Glyphs are drawn into a square from -1 to 1.
const GLYPHS = {
  waiting(path) {
    path.rect(-0.6, -0.8, 0.4, 1.6);
    path.rect(0.2, -0.8, 0.4, 1.6);
  },
  missing(path) {
    path.arc(0, 0, 0.95, 0, 2 * Math.PI);
    path.arc(0, 0, 0.45, 0, 2 * Math.PI, true);
  },
  stalled(path) {
    path.moveTo(-0.8, -0.9);
    path.lineTo(0.8, -0.9);
    path.lineTo(-0.8, 0.9);
    path.lineTo(0.8, 0.9);
    path.closePath();
  },
  joining(path) {
    path.arc(0, 0, 0.5, 0, 2 * Math.PI);
  },
  returning(path) {
    path.moveTo(-0.8, 0);
    path.lineTo(0.6, -0.8);
    path.lineTo(0.6, 0.8);
    path.closePath();
  },
  suspect(path) {
    path.moveTo(0, -0.9);
    path.lineTo(1, 0.8);
    path.lineTo(-1, 0.8);
    path.closePath();
  },
  failed(path) {
    for (const turn of [1, -1]) {
      path.moveTo(-0.9, -0.6 * turn);
      path.lineTo(-0.6, -0.9 * turn);
      path.lineTo(0.9, 0.6 * turn);
      path.lineTo(0.6, 0.9 * turn);
      path.closePath();
    }
  },
  left(path) {
    path.rect(-0.8, -0.2, 1.6, 0.4);
  },
};

GLYPHS.ended = GLYPHS.failed;

const LOUD = new Set(['failed', 'missing']);
const HOLLOW = new Set(['never', 'joining', 'returning', 'ended', 'left']);

// The tile alone: filled, or an outline for a missing task.
function drawTile(context, state, size, colours) {
  const radius = size >= 20 ? 4 : size >= GLYPH_SIZE_MIN ? 2 : 0;
  context.beginPath();
  if (state === 'left' && size < GLYPH_SIZE_MIN) {
    context.rect(size / 4, size / 4, size / 2, size / 2);
  } else if (HOLLOW.has(state)) {
    const line = size >= 20 ? 1.5 : 1;
    context.lineWidth = line;
    context.strokeStyle = colours[state];
    context.roundRect(line / 2, line / 2, size - line, size - line, radius);
    if (state === 'left') context.setLineDash([2, 2]);
    context.stroke();
    context.setLineDash([]);
    return;
  } else {
    context.roundRect(0, 0, size, size, radius);
  }
  context.fillStyle = colours[state];
  context.fill();
}

function glyphColour(state, colours) {
  if (HOLLOW.has(state)) return colours[state];
  return LOUD.has(state) ? colours['on-failed'] : colours['on-mark'];
}

// The mark of a state in the square from (0, 0) to (size, size).
function drawMark(context, state, size, colours) {
  drawTile(context, state, size, colours);
  const glyph = GLYPHS[state];
  if (!glyph || size < GLYPH_SIZE_MIN) return;
  const numbered = size >= NUMBER_SIZE_MIN;
  context.save();
  context.translate(size / 2, numbered ? size * 0.73 : size / 2);
  const half = numbered ? size * 0.13 : size * 0.28;
  context.scale(half, half);
  context.beginPath();
  glyph(context);
  context.restore();
  context.fillStyle = glyphColour(state, colours);
  context.fill();
}

// The task's number, on a mark that is large enough.
function drawNumber(context, state, number, x, y, size, colours) {
  const lift = GLYPHS[state] ? size * 0.36 : size / 2;
  context.fillStyle = HOLLOW.has(state) ? colours.muted : glyphColour(state, colours);
  context.fillText(String(number), x + size / 2, y + lift + 0.5);
}

// The pixels of each state's mark, bright and dim, to be copied to where they belong.
function makeStamps(size, colours) {
  const stampsAt = (alpha) =>
    STATES.map(({name}) => {
      const canvas = document.createElement('canvas');
      const context = sized(canvas, size, size);
      context.globalAlpha = alpha;
      drawMark(context, name, size, colours);
      const {data, width} = context.getImageData(0, 0, canvas.width, canvas.height);
      return {side: width, pixels: new Uint32Array(data.buffer)};
    });
  return {bright: stampsAt(1), dim: stampsAt(DIMMED)};
}

// Into an image of `width`; the place is in CSS pixels.
function copyStamp({side, pixels}, image, width, x, y) {
  const ratio = window.devicePixelRatio || 1;
  const start = Math.round(y * ratio) * width + Math.round(x * ratio);
  for (let row = 0; row < side; ++row) {
    image.set(pixels.subarray(row * side, (row + 1) * side), start + row * width);
  }
}

// A mark of its own, for the legend.
function markCanvas(state, colours) {
  const canvas = make('canvas', {className: 'mark'});
  canvas.setAttribute('aria-hidden', 'true');
  drawMark(sized(canvas, 14, 14), state, 14, colours);
  return canvas;
}
