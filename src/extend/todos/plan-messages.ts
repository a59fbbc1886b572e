import type { AgentMessage, CustomMessage } from '../../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import { TODOS_TYPE } from './entry-type.ts';
import { isOpen, storedPlan, type TodoPlan, tasksOf } from './plan.ts';
import { describePlan, listOpenTasks } from './plan-text.ts';

/** The custom type of reminders. This file makes the messages that give the model the plan. */
export const REMINDER_TYPE = 'todo-reminder';

/** How often the agent was reminded, and whether it has used a tool since. */
export interface ReminderState {
  readonly times: number;
  readonly hasUsedTool: boolean;
}

/** Counts since the last user message, or since the plan last had no open task. */
export function reminderState(log: SessionLog): ReminderState {
  let times = 0;
  let hasUsedTool = false;
  for (const { id, role, customType } of log.nodesOfKind('user', 'toolResult', REMINDER_TYPE, TODOS_TYPE)) {
    if (role === 'user' || (customType === TODOS_TYPE && !tasksOf(storedPlan(log, id)).some(isOpen))) break;
    if (role === 'toolResult' && times === 0) hasUsedTool = true;
    if (customType === REMINDER_TYPE) times++;
  }
  return { times, hasUsedTool };
}

/** True if the last assistant message neither calls a tool nor ends with a question. */
export function isFinalMessage(messages: readonly AgentMessage[]): boolean {
  const last = messages.findLast((message) => message.role === 'assistant');
  if (!last || last.content.some(({ type }) => type === 'toolCall')) return false;
  const text = last.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return !ENDS_WITH_QUESTION.test(text);
}

// Also inside quotes, brackets and emphasis.
const ENDS_WITH_QUESTION = /[?？؟]["'“”‘’«»)\]*_`\s]*$/;

interface ReminderOptions {
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Whether the model can change the plan. */
  readonly hasTool: boolean;
}

export function reminderMessage(plan: TodoPlan, { attempt, maxAttempts, hasTool }: ReminderOptions): CustomMessage {
  const advice = hasTool
    ? 'Go on with them. Say with the todo tool what is completed, or abandoned because it is no longer wanted.'
    : 'Go on with them.';
  return {
    role: 'custom',
    customType: REMINDER_TYPE,
    content: `The plan still has tasks to do (reminder ${attempt} of ${maxAttempts}):\n${listOpenTasks(plan)}\n${advice}`,
    display: false,
    timestamp: Date.now(),
  };
}

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
