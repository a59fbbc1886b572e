import type { TextContent, ThinkingContent } from '../../../protocol/generated/vocabulary.ts';
import type { OutputItem } from './events.ts';

// The API rejects longer ids.
const LONGEST_ID = 64;

export const isValidId = (id: string): boolean => id.length <= LONGEST_ID;

export const truncatedId = (id: string): string => id.slice(0, LONGEST_ID);

/** A reasoning item to replay. The server stores nothing, so only an encrypted one can be replayed. */
export interface ReasoningItem {
  readonly type: 'reasoning';
  readonly id: string;
  readonly summary: readonly unknown[];
  readonly encrypted_content: string;
}

/** The signature to store for reasoning; undefined if it cannot be replayed. */
export function reasoningSignature(item: OutputItem): string | undefined {
  const reasoning = toReasoningItem(item);
  return reasoning && JSON.stringify(reasoning);
}

/** The reasoning item in a stored signature. */
export function signedReasoning({ thinkingSignature }: ThinkingContent): ReasoningItem | undefined {
  return thinkingSignature === undefined ? undefined : toReasoningItem(parseSignature(thinkingSignature));
}

function toReasoningItem(item: OutputItem | undefined): ReasoningItem | undefined {
  if (typeof item?.id !== 'string' || !item.encrypted_content) return undefined;
  const { id, summary, encrypted_content } = item;
  return { type: 'reasoning', id, summary: summary ?? [], encrypted_content };
}

/** The signature to store for a message; undefined if it has no id. */
export function messageSignature({ id, phase }: OutputItem): string | undefined {
  return id === undefined ? undefined : JSON.stringify({ v: 1, id, ...(phase ? { phase } : {}) });
}

/** The id and phase in a stored signature; other programs store the bare id. */
export function signedMessage({ textSignature }: TextContent): Pick<OutputItem, 'id' | 'phase'> {
  if (textSignature === undefined) return {};
  const { id = textSignature, phase } = parseSignature(textSignature) ?? {};
  return { ...(isValidId(id) ? { id } : {}), ...(phase ? { phase } : {}) };
}

function parseSignature(signature: string): OutputItem | undefined {
  try {
    const value: unknown = JSON.parse(signature);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
