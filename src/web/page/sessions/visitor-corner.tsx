import { PlainText } from '../../code/plain-text.tsx';
import { logOut } from '../entrance/server.ts';
import { Icon } from '../icons.tsx';
import { useApp } from '../state/app.ts';
import { ThemeChoice } from './theme-choice.tsx';

/** Who is logged in, and what is theirs: colours, shortcuts, the way out. */
export function VisitorCorner() {
  const { visitor, sheet, isListOpen, session } = useApp();
  const leave = () =>
    logOut().then(
      () => location.reload(),
      (error: unknown) => session.value?.complain(error),
    );
  return (
    <div class="sidebar-foot">
      <p class="visitor">
        Logged in as <PlainText text={visitor.name} />
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
        <button type="button" class="quiet icon-only" aria-label="Log out" title="Log out" onClick={() => void leave()}>
          <Icon name="leave" />
        </button>
      </div>
    </div>
  );
}
