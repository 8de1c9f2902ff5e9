// What is selected, kept in the address after #, so that a link shows the same to others.

const ADDRESS_PAUSE_MS = 100; // browsers forbid writing it very often

const address = {
  changes: {}, // that are still to be written
  base: '', // what they change: they end with it
  timer: null,

  get(name) {
    return new URLSearchParams(location.hash.slice(1)).get(name);
  },

  // Null or an empty text: it is left out.
  set(changes) {
    this.dropStale();
    Object.assign(this.changes, changes);
    this.timer ??= setTimeout(() => this.write(), ADDRESS_PAUSE_MS);
  },

  // A link that is followed meanwhile has an address of its own.
  dropStale() {
    if (location.hash !== this.base) this.changes = {};
    this.base = location.hash;
  },

  write() {
    this.dropStale();
    const all = new URLSearchParams(location.hash.slice(1));
    for (const [name, value] of Object.entries(this.changes)) {
      if (value === null || value === '') {
        all.delete(name);
      } else {
        all.set(name, value);
      }
    }
    [this.changes, this.timer] = [{}, null];
    const {pathname, search} = location;
    history.replaceState(null, '', `${pathname}${search}${all.size > 0 ? `#${all}` : ''}`);
  },
};
