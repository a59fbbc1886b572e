import type { LiveSession } from '../state/live-session.ts';
import { shellLine } from '../state/writing/shell-line.ts';
import type { ShellRuns } from '../state/writing/shell-runs.ts';
import type { Writing } from '../state/writing/writing.ts';

/** Runs what is written in the shell of the session. A command that cannot be run is in the box again. */
export async function runWritten(session: LiveSession, writing: Writing, runs: ShellRuns): Promise<void> {
  const line = shellLine(writing.text.value);
  if (!line || line.command === '') return;
  const text = writing.takeWords();
  const id = runs.begin(line, session.view.value);
  const { command, isPrivate: excludeFromContext } = line;
  const isRefused = await session.isRefused(async () => {
    const { exitCode = null } = await session.remote.bash({ command, excludeFromContext }, (news) =>
      runs.print(id, news),
    );
    runs.end(id, exitCode);
  });
  if (!isRefused) return;
  runs.forget(id);
  writing.giveBack({ text, attachments: [] });
}

/** Ends every command that was given to the shell of the session. */
export const stopShell = (session: LiveSession): Promise<boolean> => session.attempt(() => session.remote.abortBash());
