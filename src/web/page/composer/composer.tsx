import { effect, useComputed } from '@preact/signals';
import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
import { attachFiles } from '../actions/attach-files.ts';
import { type StreamingBehavior, sendDraft } from '../actions/prompting.ts';
import { runShellLine } from '../actions/shell.ts';
import { useApp, useSession, useDraft } from '../state/app.ts';
import { parseShellLine } from '../state/draft/shell-line.ts';
import { ShellRuns } from '../state/draft/shell-runs.ts';
import { Attachments } from './attachments.tsx';
import { Completer } from './completion/completer.ts';
import { DropTarget } from './drop-target.tsx';
import { MessageBox } from './message-box.tsx';
import { pageCommand } from './page-commands.ts';
import { hasTouchInput } from './touch-input.ts';
import { CommandOutputPanel } from './command-output.tsx';
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
