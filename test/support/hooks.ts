import { onTestFinished } from 'vitest';
import { type AgentMessage, type CustomMessage, type OpenAgentOptions, openAgent } from '../../src/index.ts';
import { newHome, scriptArgs } from './open.ts';

export type Hooks = NonNullable<OpenAgentOptions['hooks']>;

/** An agent in this process with these hooks; without a script its model converses. */
export async function openWith(hooks: Hooks, options: OpenAgentOptions & { answers?: readonly object[] } = {}) {
  const home = newHome();
  const { answers, ...rest } = options;
  const [, script] = answers ? scriptArgs(home, answers) : [];
  const own = script === undefined ? {} : { script };
  const agent = await openAgent({ cwd: home.cwd, agentDir: home.agentDir, hooks, ...own, ...rest });
  onTestFinished(() => agent.close());
  return { ...agent, home };
}

/** Never comes back, but tells when it was asked. */
export function silence() {
  let begin = () => {};
  const asked = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const wait = () => {
    begin();
    return new Promise<never>(() => {});
  };
  return { asked, wait };
}

export const custom = (content: string): CustomMessage => ({
  role: 'custom',
  customType: 'note',
  content,
  display: true,
  timestamp: 1,
});

export const callBash = { steps: [{ toolCall: { name: 'bash', arguments: { command: 'echo hi' } } }] };

export const rolesOf = (messages: readonly AgentMessage[]) => messages.map(({ role }) => role);

export const saidBy = (messages: readonly AgentMessage[], role: AgentMessage['role']) =>
  messages.filter((message) => message.role === role).map((message) => JSON.stringify(message));
