import { check } from '../../protocol/check.ts';
import { commandParams, inboundDefinitions } from '../../protocol/generated/inbound.ts';
import type { TodoPhase } from '../../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import { type TodoPlan, planFrom } from './plan.ts';

/** The plan in an entry; empty if the entry is malformed. */
export function storedPlan(log: SessionLog, entryId: string): TodoPlan {
  const entry = log.entry(entryId);
  const phases = entry?.type === 'custom' ? entry.data : undefined;
  if (check(commandParams.set_todos, { phases }, { definitions: inboundDefinitions }) !== undefined) return [];
  try {
    return planFrom(phases as TodoPhase[]);
  } catch {
    return [];
  }
}
