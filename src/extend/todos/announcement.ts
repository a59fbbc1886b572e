import type { CustomMessage } from '../../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import { TODOS } from './entry-type.ts';
import { remaining } from './listing.ts';
import type { Plan } from './plan.ts';
import { REMINDER } from './reminder.ts';

const ANNOUNCEMENT = 'todo-plan';

/** Whether the plan has changed since the model was last told of it: by an announcement, a reminder or the tool itself. */
export function isNews(log: SessionLog): boolean {
  for (const { id, customType } of log.nodesOfKind(TODOS, ANNOUNCEMENT, REMINDER, 'toolResult')) {
    if (customType === TODOS) return true;
    if (customType !== undefined || isOfTool(log, id)) return false;
  }
  return false;
}

function isOfTool(log: SessionLog, id: string): boolean {
  const entry = log.entry(id);
  return entry?.type === 'message' && entry.message.role === 'toolResult' && entry.message.toolName === 'todo';
}

/** Tells the model of a plan that others have made or changed. */
export const announcementOf = (plan: Plan): CustomMessage => ({
  role: 'custom',
  customType: ANNOUNCEMENT,
  content: `This is the plan. Keep it up to date with the todo tool.\n${remaining(plan)}`,
  display: false,
  timestamp: Date.now(),
});
