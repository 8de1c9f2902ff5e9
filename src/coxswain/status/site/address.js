// What is selected, kept in the address after #, so that a link shows the same to others.

const address = {
  get(name) {
    return new URLSearchParams(location.hash.slice(1)).get(name);
  },

  // Null or an empty text: it is left out.
  set(changes) {
    const all = new URLSearchParams(location.hash.slice(1));
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === '') {
        all.delete(name);
      } else {
        all.set(name, value);
      }
    }
    const {pathname, search} = location;
    history.replaceState(null, '', `${pathname}${search}${all.size > 0 ? `#${all}` : ''}`);
  },
};
