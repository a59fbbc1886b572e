import { clearStoredExcept } from '../../browser-storage.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { THEME_KEY, type Theme, themeNames, themes } from '../../theme.ts';
import { Icon, type IconName } from '../icons.tsx';
import { logOut } from '../server-api.ts';
import { useApp } from '../state/app.ts';

/** Shows the login, with theme, shortcuts and logout. */
export function AccountPanel() {
  const { login, sheet, isListOpen, session, drafts } = useApp();
  const endLogin = async () => {
    try {
      await logOut();
      // The next login may be another user.
      drafts.discard();
      clearStoredExcept([THEME_KEY]);
      location.reload();
    } catch (error) {
      session.value?.showError(error);
    }
  };
  return (
    <div class="sidebar-foot">
      <p class="login-name">
        Logged in as <PlainText text={login.name} />
      </p>
      <div class="row">
        <ThemeChoice />
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Shortcuts"
          title="Shortcuts"
          onClick={() => {
            isListOpen.value = false;
            sheet.value = 'shortcuts';
          }}
        >
          <Icon name="keyboard" />
        </button>
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Log out"
          title="Log out"
          onClick={() => void endLogin()}
        >
          <Icon name="logout" />
        </button>
      </div>
    </div>
  );
}

const signs: Readonly<Record<Theme, IconName>> = { auto: 'system', light: 'sun', dark: 'moon' };

// Selects the colour theme.
function ThemeChoice() {
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
