import { expect } from 'vitest';
import type { Peer, WireRecord } from '../clients/peer.ts';

/** Waits until the agent is idle. Every run must have settled once, and no event may follow the last `agent_settled`. */
export async function waitUntilSettled(peer: Peer): Promise<WireRecord> {
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

/** Texts of the user messages in these records, in order. */
export const userTexts = (records: readonly WireRecord[]): string[] => textsOfRole('user', records);

/** Texts of the assistant messages in these records, in order. */
export const assistantTexts = (records: readonly WireRecord[]): string[] => textsOfRole('assistant', records);

function textsOfRole(role: string, records: readonly WireRecord[]): string[] {
  return records
    .filter(({ type }) => type === 'message_end')
    .map(({ message }) => message as { role: string; content: { text?: string }[] })
    .filter((message) => message.role === role)
    .map(({ content }) => content.map((block) => block.text ?? '').join(''));
}
