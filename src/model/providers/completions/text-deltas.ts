import type { ChunkDelta } from './chunk.ts';

/** A piece of text or thinking. */
export interface TextDelta {
  readonly kind: 'text' | 'thinking';
  readonly text: string;
  /** The field that held the thinking and must hold it in replays. */
  readonly field?: string;
}

// The fields in which servers send thinking; the first that is not empty counts.
const thinkingFieldNames = ['reasoning_content', 'reasoning', 'reasoning_text'];

/** Whether a thinking signature is the name of the field that held it. */
export const isThinkingField = (signature: string | undefined): signature is string =>
  signature !== undefined && thinkingFieldNames.includes(signature);

/** The pieces of text and thinking in a delta. */
export function textDeltas(delta: ChunkDelta): TextDelta[] {
  const field = thinkingFieldNames.find((name) => isText(delta[name]));
  return [
    ...(field === undefined ? [] : [{ kind: 'thinking' as const, text: String(delta[field]), field }]),
    ...contentDeltas(delta['content'] ?? delta['refusal']),
  ];
}

// Usually a string; some servers send text and thinking as parts.
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
