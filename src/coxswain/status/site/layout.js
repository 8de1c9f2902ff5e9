// Where the marks of many tasks are put, and how large they are: in rows of all tasks, or in a
// block for each host.

const PITCH_MAX = 40;
const PITCH_MAX_OF_SOME = 56;
const PITCH_MAX_OF_FEW = 80;
const SOME = 256;
const FEW = 16;
const PITCH_MIN = 4;
const EDGE = 6; // around all marks, for the outlines of the outermost
const LABELS_WIDTH = 40; // of the numbers left of the rows
const WIDTH_MIN = 96; // there is no room for anything in less
const LABELS_GAP_MIN = 24; // between two of these numbers
const NAMED_PITCH_MIN = 10; // smaller marks leave no room for the names of hosts
const NAME_HEIGHT = 18;
const NAME_WIDTH_MIN = 64;
const BLOCK_GAP = 8;

// Rows of round lengths are easier to count in.
const ROW_LENGTHS = [
  ...Array.from({length: 10}, (_, place) => 10 * (place + 1)),
  ...Array.from({length: 20}, (_, place) => 20 * (place + 6)),
];

// The height of the grid: independent of the tasks' states, so that nothing below it moves.
function gridHeight(count, windowHeight) {
  if (count <= FEW) return 176;
  return count <= 64 ? 240 : Math.round(Math.min(720, Math.max(320, windowHeight / 2)));
}

function gapOf(pitch) {
  if (pitch >= 24) return 4;
  return pitch >= 9 ? 2 : 1;
}

function largestPitch(count) {
  if (count <= FEW) return PITCH_MAX_OF_FEW;
  return count <= SOME ? PITCH_MAX_OF_SOME : PITCH_MAX;
}

// Rows of all tasks. They are labelled where the marks have no room for their numbers.
function layOut(count, width, height) {
  const plain = fit(count, width, height, EDGE);
  const {columns, rows, pitch, left} =
    plain.pitch - gapOf(plain.pitch) >= NUMBER_SIZE_MIN
      ? plain
      : fit(count, width, height, LABELS_WIDTH);
  const block = {left, top: EDGE, columns, tasks: [...Array(count).keys()]};
  const labelEvery = Math.ceil(LABELS_GAP_MIN / pitch);
  return placed([block], count, pitch, {columns, rows, labelEvery, left});
}

// The largest pitch at which `count` marks fit, in as few rows as that allows.
function fit(count, width, height, left) {
  const room = width - left - EDGE;
  const fitting = ROW_LENGTHS.filter((columns) => columns * PITCH_MIN <= room);
  const largest = largestPitch(count);
  let best = null;
  const choices = count <= FEW ? [Math.ceil(count / 2), count] : fitting;
  for (const columns of choices) {
    const rows = Math.ceil(count / columns);
    const pitch = Math.floor(Math.min(largest, room / columns, Math.max(PITCH_MIN, height / rows)));
    const overflow = Math.max(0, rows * pitch - height);
    const isBetter =
      !best || overflow < best.overflow || (overflow === best.overflow && pitch >= best.pitch);
    if (isBetter) best = {columns, rows, pitch, left, overflow};
  }
  return best;
}

// A block for each host, with its name above it where there is room for names.
function layOutHosts(hosts, count, width, height) {
  const largest = largestPitch(count);
  const room = width - 2 * EDGE;
  const most = hosts.reduce((size, {name, tasks}) => Math.max(size, name ? tasks.length : 0), 1);
  const widths = [1, 2, 3, 4, 8].filter((rows) => most % rows === 0).map((rows) => most / rows);
  const attempt = (pitch, isNamed) =>
    widths
      .map((columns) =>
        flow(hosts, Math.min(columns, Math.floor(room / pitch)), pitch, room, isNamed),
      )
      .reduce((a, b) => (b.height < a.height ? b : a));
  for (let pitch = largest; pitch >= NAMED_PITCH_MIN; --pitch) {
    const found = attempt(pitch, true);
    if (found.height <= height) return placed(found.blocks, count, pitch, {isNamed: true});
  }
  for (let pitch = NAMED_PITCH_MIN + 4; pitch > PITCH_MIN; --pitch) {
    const found = attempt(pitch, false);
    if (found.height <= height) return placed(found.blocks, count, pitch, {});
  }
  return placed(attempt(PITCH_MIN, false).blocks, count, PITCH_MIN, {});
}

// The blocks one after the other, in lines; hosts with more tasks than `columns` continue below.
function flow(hosts, columns, pitch, room, isNamed) {
  const blocks = [];
  let [x, y, lineHeight] = [0, 0, 0];
  const gap = isNamed ? 2 * BLOCK_GAP : pitch >= 6 ? BLOCK_GAP : 4;
  for (const {name, tasks} of hosts) {
    const wide = name === null ? Math.max(columns, Math.floor(room / pitch)) : columns;
    const across = Math.min(tasks.length, wide);
    const width = Math.max(across * pitch, isNamed ? NAME_WIDTH_MIN : 0);
    if (x > 0 && x + width > room) {
      y += lineHeight + gap;
      [x, lineHeight] = [0, 0];
    }
    const above = isNamed ? NAME_HEIGHT : 0;
    const high = above + Math.ceil(tasks.length / across) * pitch;
    const [left, top] = [EDGE + x, EDGE + y + above];
    blocks.push({name, tasks, columns: across, left, top, width, height: high - above});
    lineHeight = Math.max(lineHeight, high);
    x += width + gap;
  }
  return {blocks, height: y + lineHeight + 2 * EDGE};
}

// The place of each task, and how high all of it is.
function placed(blocks, count, pitch, more) {
  const [xs, ys] = [new Int16Array(count), new Int16Array(count)];
  let bottom = 0;
  for (const {tasks, columns, left, top} of blocks) {
    tasks.forEach((number, place) => {
      xs[number] = left + (place % columns) * pitch;
      ys[number] = top + Math.floor(place / columns) * pitch;
      bottom = Math.max(bottom, ys[number] + pitch);
    });
  }
  const size = pitch - gapOf(pitch);
  return {blocks, count, pitch, size, xs, ys, height: bottom + EDGE, ...more};
}

function placeOf({xs, ys}, number) {
  return {x: xs[number], y: ys[number]};
}

// The task whose mark is at a place; null: none is.
function taskAt({blocks, pitch}, x, y) {
  for (const {tasks, columns, left, top} of blocks) {
    const column = Math.floor((x - left) / pitch);
    const row = Math.floor((y - top) / pitch);
    if (column < 0 || column >= columns || row < 0) continue;
    const number = tasks[row * columns + column];
    if (number !== undefined) return number;
  }
  return null;
}

// The nearest task above (-1) or below (1); null: none is.
function taskBeyond({xs, ys}, from, direction) {
  let [best, least] = [null, Infinity];
  for (let number = 0; number < xs.length; ++number) {
    const down = direction * (ys[number] - ys[from]);
    const far = down + 2 * Math.abs(xs[number] - xs[from]);
    if (down > 0 && far < least) [best, least] = [number, far];
  }
  return best;
}
