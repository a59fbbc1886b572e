import { button } from '../element.ts';

const themes = ['auto', 'light', 'dark'] as const;
const names = { auto: 'Colours of the system', light: 'Light colours', dark: 'Dark colours' };
const signs = { auto: '◐', light: '☀', dark: '☾' };
const KEY = 'tau-theme';

/** A button that goes from the colours of the system to light, to dark and back. */
export function themeButton(): HTMLButtonElement {
  let theme = remembered();
  const made = button('', { class: 'icon', onClick: () => choose(themes[(themes.indexOf(theme) + 1) % 3] ?? 'auto') });
  const choose = (chosen: (typeof themes)[number]) => {
    theme = chosen;
    document.documentElement.dataset['theme'] = theme;
    made.textContent = signs[theme];
    made.title = names[theme];
    made.setAttribute('aria-label', names[theme]);
    remember(theme);
  };
  choose(theme);
  return made;
}

/** Pages from disk may have no storage: then it is forgotten. */
function remember(theme: string): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {}
}

function remembered(): (typeof themes)[number] {
  try {
    const stored = localStorage.getItem(KEY);
    return themes.find((theme) => theme === stored) ?? 'auto';
  } catch {
    return 'auto';
  }
}
