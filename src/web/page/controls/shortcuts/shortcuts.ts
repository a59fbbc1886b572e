import { focusMessage } from '../../composer/focus-message.ts';
import { focusFilter } from '../../sessions/focus-filter.ts';
import { goToWaiting } from '../../sessions/waiting-sessions.ts';
import type { App } from '../../state/app.ts';
import { DIALOG_KEYS, focusFirstDialog } from '../../status/dialogs/dialog-focus.ts';

/** A keyboard shortcut. The key handler and the sheet both read this table. */
export interface Shortcut {
  readonly does: string;
  /** Keys pressed together, joined by `+`. `Mod` is ⌘ on a Mac and Ctrl elsewhere. */
  readonly keys: string;
  readonly group: 'Everywhere' | 'Conversation' | 'While writing';
  /** Without it, keys in a text field are not handled. */
  readonly alsoWhileTyping?: true;
  readonly needs?: 'prompt' | 'bash';
  /** When it returns false, the keys are left to the browser. */
  readonly isOffered?: (app: App) => boolean;
  /** Missing where a component handles the keys itself. */
  readonly run?: (app: App) => void;
}

export const shortcuts: readonly Shortcut[] = [
  { does: 'Show this list', keys: '?', group: 'Everywhere', run: (app) => open(app, 'shortcuts') },
  {
    does: 'New session',
    keys: 'Mod+Shift+O',
    group: 'Everywhere',
    alsoWhileTyping: true,
    needs: 'prompt',
    run: (app) => app.newSession(),
  },
  {
    does: 'Next session',
    keys: 'Alt+ArrowDown',
    group: 'Everywhere',
    alsoWhileTyping: true,
    run: (app) => goToNeighbour(app, 1),
  },
  {
    does: 'Previous session',
    keys: 'Alt+ArrowUp',
    group: 'Everywhere',
    alsoWhileTyping: true,
    run: (app) => goToNeighbour(app, -1),
  },
  {
    does: 'Next session that waits for you',
    keys: 'Alt+Shift+ArrowDown',
    group: 'Everywhere',
    alsoWhileTyping: true,
    needs: 'prompt',
    isOffered: ({ waiting }) => waiting.value.length > 0,
    run: goToWaiting,
  },
  {
    does: 'Filter the sessions',
    keys: 'Mod+Shift+F',
    group: 'Everywhere',
    alsoWhileTyping: true,
    run: focusFilter,
  },
  { does: 'Light or dark', keys: 'Mod+Shift+L', group: 'Everywhere', alsoWhileTyping: true, run: toggleTheme },
  {
    does: 'Write a message',
    keys: '/',
    group: 'Conversation',
    needs: 'prompt',
    run: focusMessage,
  },
  { does: 'Stop', keys: 'Escape', group: 'Conversation', needs: 'prompt' },
  {
    does: 'Search',
    keys: 'Mod+F',
    group: 'Conversation',
    alsoWhileTyping: true,
    // The browser searches only the drawn rows; a second press leaves it the keys.
    isOffered: ({ sheet, session }) =>
      sheet.value !== 'search' && (session.value?.view.value.messages ?? []).length > 0,
    run: (app) => open(app, 'search'),
  },
  {
    does: 'Answer a question',
    keys: DIALOG_KEYS,
    group: 'Conversation',
    alsoWhileTyping: true,
    needs: 'prompt',
    isOffered: ({ session }) => (session.value?.view.value.dialogs ?? []).length > 0,
    run: focusFirstDialog,
  },
  { does: 'Jump to the latest', keys: 'End', group: 'Conversation', run: jumpToLatest },
  {
    does: 'Choose a model',
    keys: 'Mod+K',
    group: 'Conversation',
    alsoWhileTyping: true,
    needs: 'prompt',
    run: (app) => open(app, 'models'),
  },
  {
    does: 'Choose how much it thinks',
    keys: 'Mod+.',
    group: 'Conversation',
    alsoWhileTyping: true,
    needs: 'prompt',
    run: (app) => open(app, 'thinking'),
  },
  { does: 'Send; steer what runs', keys: 'Enter', group: 'While writing', needs: 'prompt' },
  { does: 'Send when the run is over', keys: 'Alt+Enter', group: 'While writing', needs: 'prompt' },
  { does: 'New line', keys: 'Shift+Enter', group: 'While writing', needs: 'prompt' },
  { does: 'Previous prompt', keys: 'ArrowUp', group: 'While writing', needs: 'prompt' },
  { does: 'A command', keys: '/', group: 'While writing', needs: 'prompt' },
  { does: 'Name a file', keys: '@', group: 'While writing', needs: 'prompt' },
  { does: 'Run in the shell', keys: '!', group: 'While writing', needs: 'bash' },
];

function open({ sheet }: App, name: 'shortcuts' | 'models' | 'thinking' | 'search'): void {
  sheet.value = name;
}

/** Opens a neighbour of the session in the list as shown. */
function goToNeighbour(app: App, by: number): void {
  const all = app.list.groupsAt(Date.now()).flatMap(({ sessions }) => sessions);
  const at = all.findIndex(({ id }) => id === app.sessionId.value);
  // From a session that is not listed yet, the first is the next.
  const next = at < 0 ? (by > 0 ? all[0] : undefined) : all[at + by];
  if (next) app.goTo({ kind: 'session', id: next.id });
}

/** Clicks the jump button, which exists only while the end is out of sight. */
function jumpToLatest(): void {
  document.querySelector<HTMLElement>('button.jump')?.click();
}

function toggleTheme({ theme }: App): void {
  const isDark =
    theme.value === 'dark' || (theme.value === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  theme.value = isDark ? 'light' : 'dark';
}
