import type { AgentMessage, SessionEntry } from '../../../src/index.ts';
import { brief } from '../../../src/session/testing/sample-messages.ts';
import type { Peer } from '../clients/peer.ts';

/** Each message in a few words. */
export const briefs = (messages: readonly AgentMessage[]): string[] => messages.map(brief);

/** The conversation of the client, each message in a few words. */
export const briefConversation = async (peer: Peer): Promise<string[]> =>
  briefs((await peer.ok({ type: 'get_messages' })).messages);

export const getEntries = async (peer: Peer): Promise<SessionEntry[]> =>
  (await peer.ok({ type: 'get_entries' })).entries;

export const getLeafId = async (peer: Peer): Promise<string | null> => (await peer.ok({ type: 'get_tree' })).leafId;

/** The id of the message entry with this text. */
export async function entryIdOf(peer: Peer, text: string): Promise<string> {
  const found = (await getEntries(peer)).find(
    (entry) => entry.type === 'message' && JSON.stringify(entry.message).includes(`"${text}"`),
  );
  if (!found) throw new Error(`No entry has the text ${text}`);
  return found.id;
}
