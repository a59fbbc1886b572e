import type { AgentMessage, CustomMessage } from '../../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import { TODOS } from './entry-type.ts';
import { listed } from './listing.ts';
import { isOpen, type Plan, tasksOf } from './plan.ts';
import { planIn } from './stored-plan.ts';

/** The custom messages that remind the agent. */
export const REMINDER = 'todo-reminder';

/** How often the agent was reminded of what it has to do, and whether it has used a tool since. */
export interface Reminded {
  readonly times: number;
  readonly hasActed: boolean;
}

/** Counts from the last message of the user on, or from when the plan last had nothing to do. */
export function remindedIn(log: SessionLog): Reminded {
  let times = 0;
  let hasActed = false;
  for (const { id, role, customType } of log.nodesOfKind('user', 'toolResult', REMINDER, TODOS)) {
    if (role === 'user' || (customType === TODOS && !tasksOf(planIn(log, id)).some(isOpen))) break;
    if (role === 'toolResult' && times === 0) hasActed = true;
    if (customType === REMINDER) times++;
  }
  return { times, hasActed };
}

/** Whether the last answer is the agent's last word for now: no tool is called in it, and nothing is asked. */
export function isLastWord(messages: readonly AgentMessage[]): boolean {
  const answer = messages.findLast((message) => message.role === 'assistant');
  if (!answer || answer.content.some(({ type }) => type === 'toolCall')) return false;
  const text = answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return !QUESTION.test(text);
}

/** A question mark at the end, also inside quotes, brackets and emphasis. */
const QUESTION = /[?？؟]["'“”‘’«»)\]*_`\s]*$/;

interface Occasion {
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Whether the model can change the plan. */
  readonly hasTool: boolean;
}

export function reminderOf(plan: Plan, { attempt, maxAttempts, hasTool }: Occasion): CustomMessage {
  const advice = hasTool
    ? 'Go on with them. Say with the todo tool what is completed, or abandoned because it is no longer wanted.'
    : 'Go on with them.';
  return {
    role: 'custom',
    customType: REMINDER,
    content: `The plan still has tasks to do (reminder ${attempt} of ${maxAttempts}):\n${listed(plan)}\n${advice}`,
    display: false,
    timestamp: Date.now(),
  };
}
