import type { SessionLog } from '../../store/sessions/session-log.ts';
import type { Settings } from '../../store/settings.ts';
import { INJECTION } from './injection.ts';

const USUAL_GAP = 10;

/** The names of the rules that have matched on this branch and are not to match again, or not yet. */
export function silentRules(
  log: SessionLog,
  { repeatMode = 'once', repeatGap = USUAL_GAP }: NonNullable<Settings['ttsr']>,
) {
  const gap = repeatMode === 'once' ? Infinity : repeatGap;
  const silent = new Set<string>();
  let answers = 0;
  for (const { id, role } of log.nodesOfKind('assistant', INJECTION)) {
    if (answers >= gap) break;
    if (role === 'assistant') answers++;
    else for (const name of namesIn(log, id)) silent.add(name);
  }
  return silent;
}

function namesIn(log: SessionLog, id: string): string[] {
  const entry = log.entry(id);
  const details = entry?.type === 'custom_message' ? entry.details : entry?.type === 'custom' ? entry.data : undefined;
  const { rules } = (details ?? {}) as { rules?: unknown };
  return Array.isArray(rules) ? rules.filter((name) => typeof name === 'string') : [];
}
