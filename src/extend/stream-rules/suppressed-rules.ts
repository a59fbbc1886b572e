import type { SessionLog } from '../../store/sessions/session-log.ts';
import type { Settings } from '../../store/settings.ts';
import { INJECTION_TYPE } from './injection.ts';

const DEFAULT_REPEAT_GAP = 10;

/** The rules that matched on this branch and must not match again yet. */
export function suppressedRules(
  log: SessionLog,
  { repeatMode = 'once', repeatGap = DEFAULT_REPEAT_GAP }: NonNullable<Settings['ttsr']>,
) {
  const gap = repeatMode === 'once' ? Infinity : repeatGap;
  const suppressed = new Set<string>();
  let responses = 0;
  for (const { id, role } of log.nodesOfKind('assistant', INJECTION_TYPE)) {
    if (responses >= gap) break;
    if (role === 'assistant') responses++;
    else for (const name of injectedRuleNames(log, id)) suppressed.add(name);
  }
  return suppressed;
}

function injectedRuleNames(log: SessionLog, id: string): string[] {
  const entry = log.entry(id);
  const details = entry?.type === 'custom_message' ? entry.details : entry?.type === 'custom' ? entry.data : undefined;
  const { rules } = (details ?? {}) as { rules?: unknown };
  return Array.isArray(rules) ? rules.filter((name) => typeof name === 'string') : [];
}
