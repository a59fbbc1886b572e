import { useEffect } from 'preact/hooks';
import { stop } from '../actions/prompting.ts';
import { stopShell } from '../actions/shell.ts';
import { isComposing } from '../composing.ts';
import { useApp } from '../state/app.ts';
import type { LiveSession } from '../state/live-session.ts';
import type { ShellRuns } from '../state/writing/shell-runs.ts';
import type { Writing } from '../state/writing/writing.ts';
import { MESSAGE_BOX } from './focus-message.ts';

/** Escape ends what runs, wherever the focus is, unless it means something else there. Otherwise it closes what a command said. */
export function useEscape(session: LiveSession, writing: Writing, runs: ShellRuns): void {
  const app = useApp();
  useEffect(() => {
    const isShellBusy = () => runs.isRunning || (app.may('bash') && session.view.value.state.runningBash);
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || isComposing(event) || event.defaultPrevented || isTaken(event.target)) return;
      const { running, compacting } = session.view.value;
      const mayStop = session.hindrance.value === undefined;
      if ((running || compacting) && mayStop) void stop(session, writing);
      else if (isShellBusy() && mayStop) void stopShell(session);
      else writing.reply.value = undefined;
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [app, session, writing, runs]);
}

/** Whether something is open that it closes, or something else is being written. */
const isTaken = (target: EventTarget | null) =>
  document.querySelector('dialog[open], :popover-open') !== null ||
  (target instanceof Element && target.matches(`input, select, textarea:not(${MESSAGE_BOX})`));
