// Numbers, times and ranges as people read them. Pure functions; no document.

const GROUPED = new Intl.NumberFormat('en-GB');

function textOfCount(number) {
  return GROUPED.format(number);
}

function textOfBytes(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let amount = bytes;
  while (amount >= 1024 && unit + 1 < units.length) {
    amount /= 1024;
    ++unit;
  }
  return `${unit > 0 && amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${units[unit]}`;
}

// Whole seconds and more; of two units at most.
function textOfSeconds(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts = [
    [Math.floor(seconds / 86400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first < 0) return '0 s';
  const shown = parts.slice(first, first + 2).filter(([amount]) => amount > 0);
  return shown.map(([amount, unit]) => `${amount} ${unit}`).join(' ');
}

// Three digits where it is short.
function textOfDuration(ms) {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10000) return `${(ms / 1000).toFixed(1)} s`;
  return textOfSeconds(ms);
}

// When something happened, counted from the coordinator's start.
function textOfClock(ms) {
  const seconds = Math.floor(ms / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

function textOfMoment(ms) {
  return `${textOfClock(ms)}.${String(Math.floor(ms % 1000)).padStart(3, '0')}`;
}

// The time of day on the coordinator's clock, so many milliseconds after a time of it.
function clockAt(time, ms) {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)$/.exec(time) ?? [0, '+', 0, 0];
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60000;
  const local = new Date(Date.parse(time) + offset + ms).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)}`;
}

// "3,17-24" as [[3, 3], [17, 24]].
function rangesOf(text) {
  if (!text) return [];
  return text.split(',').map((part) => {
    const [first, last] = part.split('-').map(Number);
    return [first, last ?? first];
  });
}

// [3, 17, 18, 19] as "3, 17–19".
function rangesText(numbers) {
  const ranges = [];
  for (const number of numbers.sort((a, b) => a - b)) {
    const last = ranges[ranges.length - 1];
    if (last?.[1] === number - 1) {
      last[1] = number;
    } else {
      ranges.push([number, number]);
    }
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(', ');
}

function isWithin(ranges, number) {
  return ranges.some(([first, last]) => first <= number && number <= last);
}

function plural(number, one, many = `${one}s`) {
  return `${textOfCount(number)} ${number === 1 ? one : many}`;
}

// The value below which the fraction of the sorted values lies.
function quantile(sorted, fraction) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))];
}
