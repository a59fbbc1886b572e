import type { MessageDraft } from '../state/draft/message-draft.ts';
import { parseShellLine, type ShellRuns } from '../state/draft/shell-runs.ts';
import type { LiveSession } from '../state/live-session.ts';

/** Runs the `!` line of the draft in the shell of the session. A rejected command is restored to the draft. */
export async function runShellLine(session: LiveSession, draft: MessageDraft, runs: ShellRuns): Promise<void> {
  const line = parseShellLine(draft.text.value);
  if (!line || line.command === '') return;
  const text = draft.takeText();
  session.shellRuns.value++;
  const id = runs.start(line, session.view.value);
  const { command, isPrivate: excludeFromContext } = line;
  const wasRejected = await session.wasRejected(async () => {
    const { exitCode = null } = await session.remote.bash(
      { command, excludeFromContext, carriageReturns: true },
      (chunk) => runs.append(id, chunk),
    );
    runs.finish(id, exitCode);
  });
  if (!wasRejected) return;
  runs.remove(id);
  draft.restore({ text, attachments: [] });
}

/** Stops all shell commands of the session. */
export const stopShell = (session: LiveSession): Promise<boolean> => session.attempt(() => session.remote.abortBash());
