import { effect, useComputed } from '@preact/signals';
import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
import { attachFiles } from '../actions/attach-files.ts';
import { type StreamingBehavior, sendDraft } from '../actions/prompting.ts';
import { exportPage } from '../actions/sessions/export-page.ts';
import { runShellLine } from '../actions/shell.ts';
import { type App, useApp, useDraft, useSession } from '../state/app.ts';
import { hasTouchInput } from '../state/browser-signals.ts';
import { parseShellLine, ShellRuns } from '../state/draft/shell-runs.ts';
import { Attachments } from './attachments.tsx';
import { CommandOutputPanel } from './command-output.tsx';
import { Completer } from './completion/completer.ts';
import { DropTarget } from './drop-target.tsx';
import { MessageBox } from './message-box.tsx';
import { ShellRunCards } from './shell-run-cards.tsx';
import { ToolRow } from './tool-row.tsx';
import { useEscape } from './use-escape.ts';

/** The message composer; logins that may not prompt get a note instead. */
export function Composer() {
  return useApp().may('prompt') ? <OpenComposer /> : <p class="note">This login may only look.</p>;
}

function OpenComposer() {
  const app = useApp();
  const session = useSession();
  const draft = useDraft();
  const runs = useMemo(() => new ShellRuns(), [session]);
  const completer = useMemo(() => new Completer(session), [session]);
  const box = useRef<HTMLTextAreaElement>(null);

  useEffect(() => effect(() => runs.prune(session.view.value)), [session, runs]);
  useEscape(session, draft, runs);

  const isForShell = useComputed(() => parseShellLine(draft.text.value) !== undefined).value;
  const submit = (behavior: StreamingBehavior) => {
    const command = pageCommand(draft.text.value, completer);
    if (isForShell && app.may('bash')) void runShellLine(session, draft, runs);
    else if (isForShell) draft.problem.value = 'This login may not run commands in the shell.';
    else if (command) {
      draft.takeText();
      command(app);
    } else if (draft.isReady) void sendDraft(session, draft, behavior);
    if (!hasTouchInput()) box.current?.focus();
  };
  const attachDropped = useCallback((files: readonly File[]) => void attachFiles(draft, files), [draft]);
  return (
    <div class="composing">
      <ShellRunCards runs={runs} />
      <CommandOutputPanel draft={draft} />
      {draft.problem.value !== undefined && (
        <p class="composer-problem" role="alert">
          {draft.problem.value}
        </p>
      )}
      <form
        class={isForShell ? 'composer for-shell' : 'composer'}
        onSubmit={(event) => {
          event.preventDefault();
          submit('steer');
        }}
      >
        <Attachments draft={draft} />
        <MessageBox box={box} draft={draft} completer={completer} onSubmit={submit} onFiles={attachDropped} />
        <ToolRow draft={draft} completer={completer} onFiles={attachDropped} onQueue={() => submit('followUp')} />
      </form>
      <DropTarget onFiles={attachDropped} />
    </div>
  );
}

// Commands with a better page equivalent: agents respond with a list, or write the file on their machine.
const pageCommands: Readonly<Record<string, (app: App) => void>> = {
  model: ({ sheet }) => {
    sheet.value = 'models';
  },
  export: (app) => void exportPage(app),
};

// Returns the page action for a bare command that no extension or template overrides.
function pageCommand(text: string, completer: Completer): ((app: App) => void) | undefined {
  const [, name = ''] = /^\/(\S+)\s*$/.exec(text) ?? [];
  const { source = 'builtin' } = completer.commandNamed(name) ?? {};
  return source === 'builtin' && Object.hasOwn(pageCommands, name) ? pageCommands[name] : undefined;
}
