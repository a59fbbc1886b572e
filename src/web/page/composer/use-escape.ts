import { useEffect } from 'preact/hooks';
import { stop } from '../actions/prompting.ts';
import { stopShell } from '../actions/shell.ts';
import { isComposing } from '../ime.ts';
import { useApp } from '../state/app.ts';
import type { MessageDraft } from '../state/draft/message-draft.ts';
import type { ShellRuns } from '../state/draft/shell-runs.ts';
import type { LiveSession } from '../state/live-session.ts';
import { MESSAGE_BOX } from './focus-message.ts';

/**
 * Escape stops the run or the shell, unless an open element or another field handles it; otherwise it closes the
 * command output.
 */
export function useEscape(session: LiveSession, draft: MessageDraft, runs: ShellRuns): void {
  const app = useApp();
  useEffect(() => {
    const isShellBusy = () => runs.isRunning || (app.may('bash') && session.view.value.state.runningBash);
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || isComposing(event) || event.defaultPrevented || isHandledElsewhere(event.target))
        return;
      const { running, compacting } = session.view.value;
      const mayStop = session.blockedBy.value === undefined;
      if ((running || compacting) && mayStop) void stop(session, draft);
      else if (isShellBusy() && mayStop) void stopShell(session);
      else draft.output.value = undefined;
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [app, session, draft, runs]);
}

/** Whether an open overlay or another text field handles the key. */
const isHandledElsewhere = (target: EventTarget | null) =>
  document.querySelector('dialog[open], :popover-open') !== null ||
  (target instanceof Element && target.matches(`input, select, textarea:not(${MESSAGE_BOX})`));
