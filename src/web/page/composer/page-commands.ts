import { exportPage } from '../actions/sessions/export-page.ts';
import type { App } from '../state/app.ts';
import type { Completer } from './completion/completer.ts';

// Commands with a better page equivalent: agents respond with a list, or write the file on their machine.
const pageCommands: Readonly<Record<string, (app: App) => void>> = {
  model: ({ sheet }) => {
    sheet.value = 'models';
  },
  export: (app) => void exportPage(app),
};

// Returns the page action for a bare command that no extension or template overrides.
export function pageCommand(text: string, completer: Completer): ((app: App) => void) | undefined {
  const [, name = ''] = /^\/(\S+)\s*$/.exec(text) ?? [];
  const { source = 'builtin' } = completer.commandNamed(name) ?? {};
  return source === 'builtin' && Object.hasOwn(pageCommands, name) ? pageCommands[name] : undefined;
}
