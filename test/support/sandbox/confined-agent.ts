import type { Approval } from '../../../src/protocol/generated/vocabulary.ts';
import { type OpenOptions, openTestAgent, type TestAgent } from '../agent/test-agent.ts';
import type { WireRecord } from '../clients/peer.ts';
import { newUserHome } from './user-home.ts';

/** A call of the scripted model. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export const bash = (command: string, more: object = {}): ScriptedCall => ({
  name: 'bash',
  arguments: { command, ...more },
});

export const read = (path: string): ScriptedCall => ({ name: 'read', arguments: { path } });

export const write = (path: string, content: string): ScriptedCall => ({ name: 'write', arguments: { path, content } });

/** The result of a call, as the model gets it. */
export interface CallResult {
  readonly text: string;
  readonly isError: boolean;
}

/** A question about a call. */
export type Question = WireRecord & { readonly id: string; readonly approval: Approval };

export interface ConfinedOptions extends Omit<OpenOptions, 'script'> {
  /** The calls that the model makes one after another; each list in its own run. */
  readonly runs: readonly (readonly ScriptedCall[])[];
}

/** An agent whose commands run in a sandbox. */
export interface ConfinedAgent extends TestAgent {
  /** Sends the next prompt and returns the results of its calls. */
  readonly run: () => Promise<CallResult[]>;
  /** Sends the next prompt; its run goes on. */
  readonly start: () => Promise<void>;
  /** The results of the run that was started, when it has settled. */
  readonly settled: () => Promise<CallResult[]>;
  /** The next question, or that of the run that has just been started. */
  readonly question: () => Promise<Question>;
  readonly answer: (question: Question, kind: Approval['options'][number]['kind']) => void;
  readonly questions: () => Question[];
}

/** The arguments of an agent that confines every command and asks about nothing inside. */
export const CONFINED = ['--approvals', 'auto', '--sandbox', 'required'] as const;

/** Starts an agent with a real process, by default confined, in a home folder of a user. */
export async function openConfined({
  runs,
  args = CONFINED,
  home = newUserHome(),
  ...options
}: ConfinedOptions): Promise<ConfinedAgent> {
  const agent = await openTestAgent('stdio', { ...options, home, args, script: runs.flatMap(answersOf) });
  const { peer } = agent;
  let from = 0;
  const start = async () => {
    await peer.greeted();
    from = peer.records.length;
    await peer.ok({ type: 'prompt', message: 'go' });
  };
  const settled = async () => {
    await peer.next('agent_settled');
    return resultsIn(peer.records.slice(from));
  };
  return {
    ...agent,
    start,
    settled,
    run: async () => {
      await start();
      return settled();
    },
    question: () => peer.next(isQuestion),
    answer: ({ id, approval }, kind) => {
      const value = approval.options.find((option) => option.kind === kind)?.optionId;
      peer.send({ type: 'extension_ui_response', id, value: value ?? kind });
    },
    questions: () => peer.records.filter(isQuestion) as Question[],
  };
}

/** Runs one call in a new agent. */
export async function resultOf(call: ScriptedCall, options: Partial<ConfinedOptions> = {}): Promise<CallResult> {
  const agent = await openConfined({ ...options, runs: [[call]] });
  const [result] = await agent.run();
  await agent.close();
  if (!result) throw new Error('The call has no result');
  return result;
}

/** The answers of the scripted model that make these calls one after another. */
export const answersOf = (calls: readonly ScriptedCall[]): object[] => [
  ...calls.map((toolCall) => ({ steps: [{ toolCall }] })),
  { text: 'done' },
];

/** The results of the calls in these records. */
export const resultsIn = (records: readonly WireRecord[]): CallResult[] =>
  records
    .filter(({ type }) => type === 'tool_execution_end')
    .map((record) => {
      const { content } = record['result'] as { content: { text?: string }[] };
      return { text: content.map(({ text = '' }) => text).join(''), isError: record['isError'] === true };
    });

const isQuestion = (record: WireRecord) => record.type === 'extension_ui_request' && record['approval'] !== undefined;
