import { applyTheme, storedTheme, type Theme, themeNames, themes } from '../theme.ts';
import { button } from './element.ts';

const themeSigns: Readonly<Record<Theme, string>> = { auto: '◐', light: '☀', dark: '☾' };

/** A button that cycles through system, light and dark colours. */
export function themeButton(): HTMLButtonElement {
  let theme = storedTheme();
  const made = button('', { class: 'icon', onClick: () => choose(themes[(themes.indexOf(theme) + 1) % 3] ?? 'auto') });
  const choose = (chosen: Theme) => {
    theme = chosen;
    applyTheme(theme);
    made.textContent = themeSigns[theme];
    made.title = themeNames[theme];
    made.setAttribute('aria-label', themeNames[theme]);
  };
  choose(theme);
  return made;
}
