// Where the marks of many tasks are put: how many stand in a row, and how large they are.

const PITCH_MAX = 40;
const PITCH_MAX_OF_FEW = 56;
const FEW = 64;
const PITCH_MIN = 4;
const EDGE = 4; // around all marks, for the outlines of the outermost
const LABELS_WIDTH = 40; // of the numbers left of the rows
const WIDTH_MIN = 96; // there is no room for anything in less
const LABELS_GAP_MIN = 24; // between two of these numbers

// Rows of round lengths are easier to count in.
const ROW_LENGTHS = [
  ...Array.from({length: 10}, (_, place) => 10 * (place + 1)),
  ...Array.from({length: 20}, (_, place) => 20 * (place + 6)),
];

// Rows are labelled where the marks themselves have no room for their numbers.
function layOut(count, width, height) {
  const plain = fit(count, width, height, EDGE);
  return plain.size >= NUMBER_SIZE_MIN ? plain : fit(count, width, height, LABELS_WIDTH);
}

// The largest pitch at which `count` marks fit, in as few rows as that allows.
function fit(count, width, height, left) {
  const room = width - left - EDGE;
  const fitting = ROW_LENGTHS.filter((columns) => columns * PITCH_MIN <= room);
  const largest = count <= FEW ? PITCH_MAX_OF_FEW : PITCH_MAX;
  let best = null;
  for (const columns of count <= 10 ? [count] : fitting) {
    const rows = Math.ceil(count / columns);
    const pitch = Math.floor(Math.min(largest, room / columns, Math.max(PITCH_MIN, height / rows)));
    const overflow = Math.max(0, rows * pitch - height);
    const isBetter =
      !best || overflow < best.overflow || (overflow === best.overflow && pitch >= best.pitch);
    if (isBetter) best = {columns, rows, pitch, overflow};
  }
  const {columns, rows, pitch} = best;
  const labelEvery = Math.ceil(LABELS_GAP_MIN / pitch);
  return {count, columns, rows, pitch, left, labelEvery, size: pitch - gapOf(pitch)};
}

function gapOf(pitch) {
  if (pitch >= 24) return 4;
  return pitch >= 9 ? 2 : 1;
}

function placeOf(layout, number) {
  return {
    x: layout.left + (number % layout.columns) * layout.pitch,
    y: EDGE + Math.floor(number / layout.columns) * layout.pitch,
  };
}

function heightOf(layout) {
  return 2 * EDGE + layout.rows * layout.pitch;
}

// The task whose mark is at a place; null: none is.
function taskAt(layout, x, y) {
  const column = Math.floor((x - layout.left) / layout.pitch);
  const row = Math.floor((y - EDGE) / layout.pitch);
  if (column < 0 || column >= layout.columns || row < 0) return null;
  const number = row * layout.columns + column;
  return number < layout.count ? number : null;
}
