import { useComputed } from '@preact/signals';
import { PlainText } from '../../code/plain-text.tsx';
import { stopShell } from '../actions/shell.ts';
import { Icon } from '../icons.tsx';
import { useApp, useSession } from '../state/app.ts';
import type { ShellRuns, UserShellRun } from '../state/draft/shell-runs.ts';

/** The running shell commands: those of this tab, and those of other clients or an earlier visit. */
export function ShellRunCards({ runs }: { readonly runs: ShellRuns }) {
  const { view } = useSession();
  const running = useComputed(() => view.value.state.runningBash).value;
  return (
    <>
      {runs.all.value.map((run) => (
        <ShellRunCard key={run.id} run={run} />
      ))}
      {runs.others(running).map(({ command }, index) => (
        <ShellRunCard key={`${index} ${command}`} run={{ command, tail: '', exitCode: undefined }} />
      ))}
    </>
  );
}

type ShownRun = Pick<UserShellRun, 'command' | 'tail' | 'exitCode'>;

/** Only the client that started a command receives its output. */
function ShellRunCard({ run }: { readonly run: ShownRun }) {
  const app = useApp();
  const session = useSession();
  const { command, tail, exitCode } = run;
  const blockedBy = session.blockedBy.value;
  return (
    <section class="shell-run" aria-label={`Shell: ${command}`}>
      <header>
        <Icon name="terminal" />
        <code>
          <PlainText text={command} />
        </code>
        <span class="note">{stateText(run)}</span>
        {exitCode === undefined && app.may('bash') && (
          <button
            type="button"
            class="shell-stop"
            aria-label="Stop commands"
            title={blockedBy}
            disabled={blockedBy !== undefined}
            onClick={() => void stopShell(session)}
          >
            Stop
          </button>
        )}
      </header>
      {tail !== '' && (
        <pre>
          <PlainText text={tail.replaceAll('\r', '')} />
        </pre>
      )}
    </section>
  );
}

function stateText({ exitCode }: ShownRun): string {
  if (exitCode === undefined) return 'running';
  return exitCode === null ? 'stopped' : `exit ${exitCode}`;
}
