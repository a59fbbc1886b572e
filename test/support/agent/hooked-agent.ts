import { onTestFinished } from 'vitest';
import { type AgentMessage, type CustomMessage, type OpenAgentOptions, openAgent } from '../../../src/index.ts';
import { newHome, scriptArgs } from './test-agent.ts';

export type Hooks = NonNullable<OpenAgentOptions['hooks']>;

/** Opens an agent in this process with these hooks; without a script the model converses. */
export async function openWithHooks(hooks: Hooks, options: OpenAgentOptions & { answers?: readonly object[] } = {}) {
  const home = newHome();
  const { answers, ...rest } = options;
  const [, script] = answers ? scriptArgs(home, answers) : [];
  const scriptOption = script === undefined ? {} : { script };
  const agent = await openAgent({ cwd: home.cwd, agentDir: home.agentDir, hooks, ...scriptOption, ...rest });
  onTestFinished(() => agent.close());
  return { ...agent, home };
}

/** A hook that never returns; `called` settles when it is called. */
export function neverReturns() {
  let onCall = () => {};
  const called = new Promise<void>((resolve) => {
    onCall = resolve;
  });
  const wait = () => {
    onCall();
    return new Promise<never>(() => {});
  };
  return { called, wait };
}

export const customMessage = (content: string): CustomMessage => ({
  role: 'custom',
  customType: 'note',
  content,
  display: true,
  timestamp: 1,
});

export const callBash = { steps: [{ toolCall: { name: 'bash', arguments: { command: 'echo hi' } } }] };

export const rolesOf = (messages: readonly AgentMessage[]) => messages.map(({ role }) => role);

export const messagesOfRole = (messages: readonly AgentMessage[], role: AgentMessage['role']) =>
  messages.filter((message) => message.role === role).map((message) => JSON.stringify(message));
