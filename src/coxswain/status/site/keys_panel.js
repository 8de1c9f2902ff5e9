// The keys that begin with what was typed, and the value of one of them.

const KEYS_AT_ONCE = 100;
const KEYS_REFRESH_MS = 2000;
const TYPING_PAUSE_MS = 200;

class KeysPanel {
  constructor() {
    this.keys = [];
    this.at = null; // the moment of a recording
    this.asked = 0; // only the answer to the last question counts
    this.known = ''; // how many keys and bytes there were when it was asked
    this.askedAt = -Infinity;
    this.takeAddress();
    byId('keys-prefix').addEventListener('input', () => this.type());
    byId('keys-more').addEventListener('click', () => this.ask(this.keys.length + KEYS_AT_ONCE));
    byId('keys').addEventListener('click', ({target}) => {
      const row = target.closest('button');
      if (row) this.choose(row.parentElement.dataset.key);
    });
    byId('keys-value-close').addEventListener('click', () => this.choose(null));
  }

  takeAddress() {
    this.chosen = address.get('key');
    byId('keys-prefix').value = address.get('prefix') ?? '';
  }

  // What an address says that this page has made.
  restore() {
    this.takeAddress();
    byId('keys-value').hidden = this.chosen === null;
    this.ask(KEYS_AT_ONCE);
  }

  // Asked again, now and then, when the job's keys are others than before.
  show({keys, key_bytes: bytes}, now, at) {
    setText(byId('keys-count'), textOfCount(keys));
    const known = `${keys} ${bytes} ${at}`;
    const isSoon = at === null && now - this.askedAt < KEYS_REFRESH_MS;
    if (known === this.known || isSoon) return;
    this.at = at;
    this.known = known;
    this.askedAt = now;
    this.ask(Math.max(KEYS_AT_ONCE, this.keys.length));
  }

  type() {
    address.set({prefix: byId('keys-prefix').value});
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(KEYS_AT_ONCE), TYPING_PAUSE_MS);
  }

  async ask(limit) {
    const question = ++this.asked;
    const query = new URLSearchParams({prefix: byId('keys-prefix').value, limit});
    if (this.at !== null) query.set('at', this.at);
    const answer = await fetch(`api/v1/keys?${query}`, {cache: 'no-store'}).catch(() => null);
    const found = answer?.ok ? await answer.json() : null;
    const why = found ? '' : await whyRefused(answer);
    if (question !== this.asked) return;
    this.draw(found?.keys ?? [], found?.more ?? false, why);
    if (this.chosen !== null) this.showValue();
  }

  draw(keys, hasMore, why) {
    this.keys = keys;
    keepInStep(
      byId('keys'),
      keys,
      ({key}) => key,
      ({key}) =>
        make(
          'li',
          {},
          make('button', {type: 'button', className: 'task-link', textContent: key}),
          make('span'),
        ),
      (row, {key, bytes}) => {
        setText(row.lastChild, textOfBytes(bytes));
        row.firstChild.setAttribute('aria-pressed', String(key === this.chosen));
      },
    );
    const isAll = byId('keys-prefix').value === '';
    setText(byId('keys-none'), why || (isAll ? 'There are no keys.' : 'No key begins like this.'));
    byId('keys-none').hidden = keys.length > 0;
    byId('keys-more').hidden = !hasMore;
  }

  choose(key) {
    this.chosen = key;
    address.set({key});
    for (const row of byId('keys').children) {
      row.firstChild.setAttribute('aria-pressed', String(row.dataset.key === key));
    }
    byId('keys-value').hidden = key === null;
    if (key !== null) this.showValue();
  }

  async showValue() {
    const key = this.chosen;
    const path = `api/v1/keys/${encodeURIComponent(key)}`;
    const answer = await fetch(path, {cache: 'no-store'}).catch(() => null);
    const found = answer?.ok ? await answer.json() : null;
    const why = found ? '' : await whyRefused(answer);
    if (key !== this.chosen) return;
    byId('keys-value').hidden = false;
    setText(byId('keys-value-name'), key);
    setText(
      byId('keys-value-facts'),
      found ? `version ${textOfCount(found.version)} · ${textOfBytes(found.bytes)}` : why,
    );
    setText(byId('keys-value-text'), found ? textOfValue(found) : '');
  }
}

function textOfValue({value, value_hex: hex, value_too_long: isTooLong}) {
  if (isTooLong) return 'Too long to show here; see coxswain get.';
  return hex === undefined ? value : `bytes, in hexadecimal: ${hex}`;
}
