import { type Theme, themeNames, themes } from '../../theme.ts';
import { Icon, type IconName } from '../icons.tsx';
import { useApp } from '../state/app.ts';

const signs: Readonly<Record<Theme, IconName>> = { auto: 'system', light: 'sun', dark: 'moon' };

// Selects the colour theme.
export function ThemeChoice() {
  const { theme: chosen } = useApp();
  return (
    <fieldset class="theme-choice">
      <legend class="hidden-label">Colours</legend>
      {themes.map((theme) => (
        <label key={theme} title={themeNames[theme]}>
          <input
            type="radio"
            name="theme"
            class="hidden-label"
            aria-label={themeNames[theme]}
            checked={chosen.value === theme}
            onChange={() => {
              chosen.value = theme;
            }}
          />
          <Icon name={signs[theme]} />
        </label>
      ))}
    </fieldset>
  );
}
