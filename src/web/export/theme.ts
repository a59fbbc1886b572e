import { button } from '../element.ts';
import { applyTheme, rememberedTheme, type Theme, themeNames, themes } from '../theme.ts';

const signs: Readonly<Record<Theme, string>> = { auto: '◐', light: '☀', dark: '☾' };

/** A button that goes from the colours of the system to light, to dark and back. */
export function themeButton(): HTMLButtonElement {
  let theme = rememberedTheme();
  const made = button('', { class: 'icon', onClick: () => choose(themes[(themes.indexOf(theme) + 1) % 3] ?? 'auto') });
  const choose = (chosen: Theme) => {
    theme = chosen;
    applyTheme(theme);
    made.textContent = signs[theme];
    made.title = themeNames[theme];
    made.setAttribute('aria-label', themeNames[theme]);
  };
  choose(theme);
  return made;
}
