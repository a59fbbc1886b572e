import type { ChunkDelta } from './chunk.ts';

/** A piece of words or of a thought. */
export interface TextDelta {
  readonly kind: 'text' | 'thinking';
  readonly text: string;
  /** The field in which a thought came, and has to go back. */
  readonly field?: string;
}

/** The names under which servers send thoughts; the first that holds something counts. */
const thinkingFieldNames = ['reasoning_content', 'reasoning', 'reasoning_text'];

/** Whether the seal of a thought is the name of the field it came in. */
export const isThinkingField = (signature: string | undefined): signature is string =>
  signature !== undefined && thinkingFieldNames.includes(signature);

/** What a delta says in words. */
export function textDeltas(delta: ChunkDelta): TextDelta[] {
  const field = thinkingFieldNames.find((name) => isText(delta[name]));
  return [
    ...(field === undefined ? [] : [{ kind: 'thinking' as const, text: String(delta[field]), field }]),
    ...contentDeltas(delta['content'] ?? delta['refusal']),
  ];
}

/** Mostly a string; some servers send words and thoughts as parts. */
function contentDeltas(content: unknown): TextDelta[] {
  if (isText(content)) return [{ kind: 'text', text: content }];
  return partsIn(content).flatMap((part): TextDelta[] => {
    if (part['type'] !== 'thinking') return isText(part['text']) ? [{ kind: 'text', text: part['text'] }] : [];
    return partsIn(part['thinking']).flatMap(({ text }) => (isText(text) ? [{ kind: 'thinking', text }] : []));
  });
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const partsIn = (value: unknown): ChunkDelta[] =>
  Array.isArray(value) ? value.filter((part) => typeof part === 'object' && part !== null) : [];
