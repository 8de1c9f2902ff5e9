// Light, dark, or as the system has it; kept for the next visit.

const THEMES = ['auto', 'light', 'dark'];

class Theme {
  constructor(onChange) {
    this.onChange = onChange;
    this.set(storedTheme());
    byId('theme').addEventListener('click', () => this.next());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', onChange);
  }

  next() {
    this.set(THEMES[(THEMES.indexOf(this.name) + 1) % THEMES.length]);
    storeTheme(this.name);
    this.onChange();
  }

  set(name) {
    this.name = name;
    document.documentElement.dataset.theme = name;
    setText(byId('theme'), {auto: 'Auto', light: 'Light', dark: 'Dark'}[name]);
    byId('theme').setAttribute('aria-label', `Theme: ${name}. Press for the next.`);
  }
}

// Storage may be forbidden; then the theme lasts as long as the page.
function storedTheme() {
  try {
    const name = localStorage.getItem('coxswain-theme');
    return THEMES.includes(name) ? name : 'auto';
  } catch {
    return 'auto';
  }
}

function storeTheme(name) {
  try {
    localStorage.setItem('coxswain-theme', name);
  } catch {
    return;
  }
}
