import { hasCustomType, type LineFacts } from './line-facts.ts';

/** Bytes at the start and the end of a line that are read before the whole line is parsed. */
export const EDGE_BYTES = 192;

const BRACE_END = 0x7d;

// Printable, neither quote nor backslash: the same in latin1, in UTF-8 and inside a JSON string.
const plainCharacter = '[ !#-\\[\\]-~]';
const uncaptured = (pattern: string) => pattern.replaceAll(`(${plainCharacter}`, `(?:${plainCharacter}`);
const POSITION = `"id":"(${plainCharacter}+)","parentId":(?:null|"(${plainCharacter}*)"),"timestamp":"${plainCharacter}*"`;
const CLIENT_IDS = `(?:,"clientMessageId":"${plainCharacter}*")?(?:,"queueId":"${plainCharacter}*")?`;

const START = new RegExp(
  `^\\{"type":"(${plainCharacter}+)",${POSITION}(?:${CLIENT_IDS},"message":\\{"role":"(${plainCharacter}+)"|,"customType":"(${plainCharacter}+)")?`,
);
const MESSAGE_START = new RegExp(
  `^\\{"type":"message",${uncaptured(POSITION)}${CLIENT_IDS},"message":\\{"role":"(${plainCharacter}+)"`,
);
const CUSTOM_START = new RegExp(`^\\{"type":"(custom|custom_message)","customType":"(${plainCharacter}+)"`);
// pi writes the position of a custom entry last; in valid JSON only the outermost object can end right after it.
const CUSTOM_END = new RegExp(`,${POSITION}\\}$`);

/**
 * Reads the facts of a line from its first and last bytes when the fields are in the order that tau and pi write.
 *
 * Undefined means that the line has to be parsed. The middle is not checked: the line may still be malformed there.
 */
export function quickParse(bytes: Buffer, start: number, end: number): LineFacts | undefined {
  if (bytes[end - 1] !== BRACE_END) return undefined;
  const head = bytes.toString('latin1', start, Math.min(end, start + EDGE_BYTES));
  const found = START.exec(head);
  if (!found) return quickParseCustom(head, bytes.toString('latin1', Math.max(start, end - EDGE_BYTES), end));
  const type = found[1] ?? '';
  const hasKind = type === 'message' || hasCustomType(type);
  const kind = type === 'message' ? found[4] : found[5];
  if (hasKind && kind === undefined) return undefined;
  return { type, id: found[2] ?? '', parentId: found[3] ?? null, kind: hasKind ? kind : undefined };
}

/** Reads the role of a message at half the cost of all facts; undefined means that another reader has to try. */
export function quickParseRole(bytes: Buffer, start: number, end: number): string | undefined {
  if (bytes[end - 1] !== BRACE_END) return undefined;
  return MESSAGE_START.exec(bytes.toString('latin1', start, Math.min(end, start + EDGE_BYTES)))?.[1];
}

function quickParseCustom(head: string, tail: string): LineFacts | undefined {
  const [, type, kind] = CUSTOM_START.exec(head) ?? [];
  if (type === undefined) return undefined;
  const [, id, parentId = null] = CUSTOM_END.exec(tail) ?? [];
  return id === undefined ? undefined : { type, id, parentId, kind };
}
