// Elements: found, made, and kept in step with a list. Texts are only ever set as text.

function byId(id) {
  return document.getElementById(id);
}

// Characters without a width, and those that change the direction of what follows, are shown as
// their codes: a name with them looks like another one.
function visible(text) {
  const unseen = /[\p{Cf}\u180e\u2028\u2029]/gu;
  return String(text ?? '').replace(unseen, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

// make('span', {className: 'name', textContent: name}, child, ...)
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  if ('textContent' in properties) element.textContent = visible(properties.textContent);
  element.append(...children);
  return element;
}

// Writes only what differs, so that a screen reader announces changes only.
function setText(element, text) {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
}

// For screen readers: announces what has just changed, without its counts.
function announce(text) {
  setText(byId('announcement'), text);
}

// One child of the parent for each item, in their order. A child is made once for a key and then
// updated, so that focus and selection stay.
function keepInStep(parent, items, keyOf, makeChild, update) {
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    let child = old.get(key);
    old.delete(key);
    if (!child) {
      child = makeChild(item);
      child.dataset.key = key;
    }
    if (child === place) {
      place = place.nextElementSibling;
    } else {
      parent.insertBefore(child, place);
    }
    update(child, item);
  }
  for (const child of old.values()) child.remove();
}

// Tasks by number or range ("17", "32-39") that are shown in the grid; its owner handles `click`.
function tasksButton(tasks, text = tasks) {
  const button = make('button', {type: 'button', className: 'task-link', textContent: text});
  button.dataset.tasks = tasks;
  button.setAttribute('aria-label', `Show ${tasks.includes('-') ? 'tasks' : 'task'} ${tasks}`);
  return button;
}

// "Waiting for tasks 3,17-24" as ["Waiting for tasks ", "3", ",", "17-24", ""]: every other part
// names tasks.
function partsWithTasks(text) {
  const parts = [''];
  let end = 0;
  for (const {0: found, index} of text.matchAll(/\btasks? \d[\d,-]*/g)) {
    const [before, ...rest] = found.split(/(\d+(?:-\d+)?)/);
    parts[parts.length - 1] += text.slice(end, index) + before;
    parts.push(...rest);
    end = index + found.length;
  }
  parts[parts.length - 1] += text.slice(end);
  return parts;
}

// A text in which tasks are links. What stays the same keeps its focus.
function setLinked(element, text) {
  const parts = partsWithTasks(visible(text));
  parts.forEach((part, place) => {
    const old = element.childNodes[place];
    if (old?.textContent === part && place % 2 === (old.nodeType === Node.ELEMENT_NODE ? 1 : 0)) {
      return;
    }
    const made = place % 2 === 1 ? tasksButton(part) : document.createTextNode(part);
    if (old) {
      old.replaceWith(made);
    } else {
      element.append(made);
    }
  });
  while (element.childNodes.length > parts.length) element.lastChild.remove();
}

// The colours that custom properties have in the present theme, by their names.
function coloursOf(names) {
  const probe = make('i', {hidden: true});
  document.body.append(probe);
  const colours = {};
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    colours[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return colours;
}

// Gives the canvas the size, sharp on any screen, and its context, which counts in CSS pixels. Its
// pixels are kept where we can copy them.
function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d', {willReadFrequently: true});
  context.scale(ratio, ratio);
  return context;
}
