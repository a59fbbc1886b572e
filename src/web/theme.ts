import { recall, remember } from './remembered.ts';

/** `auto`: as the system has it. */
export const themes = ['auto', 'light', 'dark'] as const;

export type Theme = (typeof themes)[number];

export const themeNames: Readonly<Record<Theme, string>> = {
  auto: 'Colours of the system',
  light: 'Light colours',
  dark: 'Dark colours',
};

/** Under which the browser remembers the choice. */
export const THEME_KEY = 'tau-theme';

/** What was chosen last in this browser. */
export function rememberedTheme(): Theme {
  const stored = recall(THEME_KEY);
  return themes.find((theme) => theme === stored) ?? 'auto';
}

/** Puts the colours on the page, and keeps the choice. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
  remember(THEME_KEY, theme);
}
