import type { CustomMessage } from '../../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import { TODOS_TYPE } from './entry-type.ts';
import { describePlan } from './plan-text.ts';
import type { TodoPlan } from './plan.ts';
import { REMINDER_TYPE } from './plan-messages.ts';

const ANNOUNCEMENT_TYPE = 'todo-plan';

/** True if the plan has changed since the model last received it by an announcement, a reminder or the tool. */
export function isUnannounced(log: SessionLog): boolean {
  for (const { id, customType } of log.nodesOfKind(TODOS_TYPE, ANNOUNCEMENT_TYPE, REMINDER_TYPE, 'toolResult')) {
    if (customType === TODOS_TYPE) return true;
    if (customType !== undefined || isTodoResult(log, id)) return false;
  }
  return false;
}

function isTodoResult(log: SessionLog, id: string): boolean {
  const entry = log.entry(id);
  return entry?.type === 'message' && entry.message.role === 'toolResult' && entry.message.toolName === 'todo';
}

/** The message that gives the model a plan of a client. */
export const announcementMessage = (plan: TodoPlan): CustomMessage => ({
  role: 'custom',
  customType: ANNOUNCEMENT_TYPE,
  content: `This is the plan. Keep it up to date with the todo tool.\n${describePlan(plan)}`,
  display: false,
  timestamp: Date.now(),
});
