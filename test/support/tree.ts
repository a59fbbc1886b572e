import type { AgentMessage, SessionEntry } from '../../src/index.ts';
import { brief } from '../../src/session/testing/sample-messages.ts';
import type { Peer } from './peer.ts';

/** What was said, in a few words per message. */
export const said = (messages: readonly AgentMessage[]): string[] => messages.map(brief);

/** The conversation as the client sees it. */
export const conversation = async (peer: Peer): Promise<string[]> =>
  said((await peer.ok({ type: 'get_messages' })).messages);

export const entriesOf = async (peer: Peer): Promise<SessionEntry[]> =>
  (await peer.ok({ type: 'get_entries' })).entries;

export const leafOf = async (peer: Peer): Promise<string | null> => (await peer.ok({ type: 'get_tree' })).leafId;

/** The id of the entry that holds these words. */
export async function entryWith(peer: Peer, words: string): Promise<string> {
  const found = (await entriesOf(peer)).find(
    (entry) => entry.type === 'message' && JSON.stringify(entry.message).includes(`"${words}"`),
  );
  if (!found) throw new Error(`Nobody said ${words}`);
  return found.id;
}
