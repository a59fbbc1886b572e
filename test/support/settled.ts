import { expect } from 'vitest';
import type { Peer, Record_ } from './peer.ts';

/** Waits until nothing is left to do. Every run must have ended once, the last of them with the last event of all. */
export async function settled(peer: Peer): Promise<Record_> {
  const { runId } = await peer.ok({ type: 'wait_idle' });
  await peer.ok({ type: 'get_state' });
  const ends = peer.records.filter(({ type }) => type === 'agent_settled');
  const last = ends.at(-1);
  if (!last) throw new Error('No run has ended');
  expect(last['runId']).toBe(runId);
  expect(new Set(ends.map((end) => end['runId'])).size, 'one agent_settled per run').toBe(ends.length);
  const after = peer.records.slice(peer.records.indexOf(last) + 1);
  expect(after.map(({ type }) => type).filter((type) => type !== 'response')).toEqual([]);
  return last;
}

/** The texts of the user messages in these records, in the order in which they were told. */
export const userTexts = (records: readonly Record_[]): string[] => saidBy('user', records);

/** The texts of the answers in these records, in the order in which they ended. */
export const answers = (records: readonly Record_[]): string[] => saidBy('assistant', records);

function saidBy(role: string, records: readonly Record_[]): string[] {
  return records
    .filter(({ type }) => type === 'message_end')
    .map(({ message }) => message as { role: string; content: { text?: string }[] })
    .filter((message) => message.role === role)
    .map(({ content }) => content.map((block) => block.text ?? '').join(''));
}
