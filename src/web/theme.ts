import { readStored, writeStored } from './browser-storage.ts';

/** The colour themes of both pages; `auto` follows the system. */
export const themes = ['auto', 'light', 'dark'] as const;

export type Theme = (typeof themes)[number];

export const themeNames: Readonly<Record<Theme, string>> = {
  auto: 'Colours of the system',
  light: 'Light colours',
  dark: 'Dark colours',
};

export const THEME_KEY = 'tau-theme';

/** The last chosen theme of this browser. */
export function storedTheme(): Theme {
  const stored = readStored(THEME_KEY);
  return themes.find((theme) => theme === stored) ?? 'auto';
}

/** Applies a theme to the page and stores it. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
  writeStored(THEME_KEY, theme);
}
