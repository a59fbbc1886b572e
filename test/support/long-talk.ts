import { type Home, newHome, type OpenOptions, setUp, type TestAgent } from './open.ts';
import type { Record_ } from './peer.ts';

/** A user with these settings. Nobody waits long for another try, and little is kept by a compaction. */
export function patientHome(settings: object = {}): Home {
  const home = newHome();
  setUp(home, { retry: { baseDelayMs: 1 }, compaction: { keepRecentTokens: 50 }, ...settings });
  return home;
}

/** More than a compaction keeps: 75 tokens. */
export const FILLER = 'word '.repeat(60);

/** An answer with these counts. */
export const counted = (text: string, input: number, output = 10) => ({
  steps: [{ text }, { usage: { input, output } }],
});

/** So much that there is hardly room for another answer of the usual model. */
export const FULL = 190_000;

/** An agent that has talked twice; `script` goes on from there. A compaction keeps the second of the two turns. */
export async function talked(
  open: (options?: OpenOptions) => Promise<TestAgent>,
  script: readonly object[],
  options: OpenOptions = {},
): Promise<TestAgent> {
  const agent = await open({
    home: patientHome(),
    ...options,
    script: [counted('one', 100), counted('two', 200), ...script],
  });
  await agent.peer.run(`first ${FILLER}`);
  await agent.peer.run(`second ${FILLER}`);
  return agent;
}

/** What was told of compactions, under the newer names. */
export const compactions = (records: readonly Record_[]): Record_[] =>
  records.filter(({ type }) => type === 'compaction_start' || type === 'compaction_end');

/** The types of what was told between answers: neither messages nor responses, nor older names. */
export const milestones = (records: readonly Record_[]): string[] =>
  records.map(({ type }) => type).filter((type) => !/^(message_|tool_|response|auto_compaction|heartbeat)/.test(type));
