import type { WireRecord } from '../clients/peer.ts';
import { type Home, newHome, type OpenOptions, type TestAgent, writeSettings } from './test-agent.ts';

/** Creates a home whose agent retries after 1 ms and keeps 50 tokens on compaction. */
export function fastRetryHome(settings: object = {}): Home {
  const home = newHome();
  writeSettings(home, { retry: { baseDelayMs: 1 }, compaction: { keepRecentTokens: 50 }, ...settings });
  return home;
}

/** More than a compaction keeps: 75 tokens. */
export const FILLER = 'word '.repeat(60);

/** A scripted response with this token usage. */
export const textWithUsage = (text: string, input: number, output = 10) => ({
  steps: [{ text }, { usage: { input, output } }],
});

/** Input tokens that nearly fill the context window of the scripted model. */
export const NEAR_CONTEXT_LIMIT = 190_000;

/** Opens an agent and completes two turns, then continues with `script`. A compaction keeps the second turn. */
export async function openAfterTwoTurns(
  open: (options?: OpenOptions) => Promise<TestAgent>,
  script: readonly object[],
  options: OpenOptions = {},
): Promise<TestAgent> {
  const agent = await open({
    home: fastRetryHome(),
    ...options,
    script: [textWithUsage('one', 100), textWithUsage('two', 200), ...script],
  });
  await agent.peer.run(`first ${FILLER}`);
  await agent.peer.run(`second ${FILLER}`);
  return agent;
}

/** The compaction events, without their legacy names. */
export const compactionEvents = (records: readonly WireRecord[]): WireRecord[] =>
  records.filter(({ type }) => type === 'compaction_start' || type === 'compaction_end');

/** Types of the run events, without messages, tools, responses and legacy names. */
export const milestones = (records: readonly WireRecord[]): string[] =>
  records.map(({ type }) => type).filter((type) => !/^(message_|tool_|response|auto_compaction|heartbeat)/.test(type));
