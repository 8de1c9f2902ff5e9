// The menu: the theme, kept for the next visit, and what an operator does to the job.

class Menu {
  // `onTheme` is called when the colours have changed.
  constructor(onTheme) {
    const button = byId('menu-button');
    const menu = byId('menu');
    menu.addEventListener('beforetoggle', () => {
      const {bottom, right} = button.getBoundingClientRect();
      menu.style.top = `${bottom + 4}px`;
      menu.style.right = `${document.documentElement.clientWidth - right}px`;
    });
    for (const choice of document.getElementsByName('theme')) {
      choice.checked = choice.value === storedTheme();
      choice.addEventListener('change', () => {
        document.documentElement.dataset.theme = choice.value;
        storeTheme(choice.value);
        onTheme();
      });
    }
    document.documentElement.dataset.theme = storedTheme();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', onTheme);
  }
}

// Storage may be forbidden; then the theme lasts as long as the page.
function storedTheme() {
  try {
    const name = localStorage.getItem('coxswain-theme');
    return ['light', 'dark'].includes(name) ? name : 'auto';
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
