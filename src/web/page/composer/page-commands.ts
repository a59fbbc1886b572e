import { exportPage } from '../actions/sessions/export-page.ts';
import type { App } from '../state/app.ts';
import type { Completer } from './completion/completer.ts';

/** Commands that the page has a better way for: agents answer them by a list, and by a file where they run. */
const pageCommands: Readonly<Record<string, (app: App) => void>> = {
  model: ({ sheet }) => {
    sheet.value = 'models';
  },
  export: (app) => void exportPage(app),
};

/** What the page does for what is written: for one of these commands, with nothing behind it and nobody else's name. */
export function pageCommand(text: string, completer: Completer): ((app: App) => void) | undefined {
  const [, name = ''] = /^\/(\S+)\s*$/.exec(text) ?? [];
  const { source = 'builtin' } = completer.commandNamed(name) ?? {};
  return source === 'builtin' && Object.hasOwn(pageCommands, name) ? pageCommands[name] : undefined;
}
