import { effect, useComputed } from '@preact/signals';
import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
import { attach } from '../actions/attaching.ts';
import { type Manner, sendWritten } from '../actions/prompting.ts';
import { runWritten } from '../actions/shell.ts';
import { useApp, useSession, useWriting } from '../state/app.ts';
import { shellLine } from '../state/writing/shell-line.ts';
import { ShellRuns } from '../state/writing/shell-runs.ts';
import { Attachments } from './attachments.tsx';
import { Completer } from './completion/completer.ts';
import { DropPlace } from './drop-place.tsx';
import { MessageBox } from './message-box.tsx';
import { ownCommand } from './own-commands.ts';
import { isTouched } from './pointer.ts';
import { ReplyPanel } from './reply-panel.tsx';
import { ShellRunCards } from './shell-run-cards.tsx';
import { ToolRow } from './tool-row.tsx';
import { useEscape } from './use-escape.ts';

/** The place where messages are written. */
export function Composer() {
  return useApp().may('prompt') ? <OpenComposer /> : <p class="note">This login may only look.</p>;
}

function OpenComposer() {
  const app = useApp();
  const session = useSession();
  const writing = useWriting();
  const runs = useMemo(() => new ShellRuns(), [session]);
  const completer = useMemo(() => new Completer(session), [session]);
  const box = useRef<HTMLTextAreaElement>(null);

  useEffect(() => effect(() => runs.settle(session.view.value)), [session, runs]);
  useEscape(session, writing, runs);

  const isForShell = useComputed(() => shellLine(writing.text.value) !== undefined).value;
  const submit = (manner: Manner) => {
    const own = ownCommand(writing.text.value, completer);
    if (isForShell && app.may('bash')) void runWritten(session, writing, runs);
    else if (isForShell) writing.problem.value = 'This login may not run commands in the shell.';
    else if (own) {
      writing.takeWords();
      own(app);
    } else if (writing.isReady) void sendWritten(session, writing, manner);
    if (!isTouched()) box.current?.focus();
  };
  const take = useCallback((files: readonly File[]) => void attach(writing, files), [writing]);
  return (
    <div class="composing">
      <ShellRunCards runs={runs} />
      <ReplyPanel writing={writing} />
      {writing.problem.value !== undefined && (
        <p class="composer-problem" role="alert">
          {writing.problem.value}
        </p>
      )}
      <form
        class={isForShell ? 'composer for-shell' : 'composer'}
        onSubmit={(event) => {
          event.preventDefault();
          submit('steer');
        }}
      >
        <Attachments writing={writing} />
        <MessageBox box={box} writing={writing} completer={completer} onSubmit={submit} onFiles={take} />
        <ToolRow writing={writing} completer={completer} onFiles={take} onQueue={() => submit('followUp')} />
      </form>
      <DropPlace onFiles={take} />
    </div>
  );
}
