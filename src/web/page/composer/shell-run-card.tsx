import { PlainText } from '../../code/plain-text.tsx';
import { stopShell } from '../actions/shell.ts';
import { Icon } from '../icons.tsx';
import { useSession } from '../state/app.ts';
import type { ShellRun } from '../state/writing/shell-runs.ts';

/** A command that runs in the shell, with the end of what it has printed so far. */
export function ShellRunCard({ run }: { readonly run: ShellRun }) {
  const session = useSession();
  const { command, tail, exitCode } = run;
  return (
    <section class="shell-run" aria-label={`Shell: ${command}`}>
      <header>
        <Icon name="terminal" />
        <code>
          <PlainText text={command} />
        </code>
        <span class="note">{stateOf(run)}</span>
        {exitCode === undefined && (
          <button type="button" class="shell-stop" aria-label="Stop commands" onClick={() => void stopShell(session)}>
            Stop
          </button>
        )}
      </header>
      {tail !== '' && (
        <pre>
          <PlainText text={tail} />
        </pre>
      )}
    </section>
  );
}

function stateOf({ exitCode }: ShellRun): string {
  if (exitCode === undefined) return 'running';
  return exitCode === null ? 'stopped' : `exit ${exitCode}`;
}
