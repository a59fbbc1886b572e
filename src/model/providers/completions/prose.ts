import type { Delta } from './chunk.ts';

/** A piece of words or of a thought. */
export interface Prose {
  readonly kind: 'text' | 'thinking';
  readonly text: string;
  /** The field in which a thought came, and has to go back. */
  readonly field?: string;
}

/** The names under which servers send thoughts; the first that holds something counts. */
const thoughtFields = ['reasoning_content', 'reasoning', 'reasoning_text'];

/** Whether the seal of a thought is the name of the field it came in. */
export const isThoughtField = (seal: string | undefined): seal is string =>
  seal !== undefined && thoughtFields.includes(seal);

/** What a delta says in words. */
export function proseIn(delta: Delta): Prose[] {
  const field = thoughtFields.find((name) => isText(delta[name]));
  return [
    ...(field === undefined ? [] : [{ kind: 'thinking' as const, text: String(delta[field]), field }]),
    ...contentIn(delta['content'] ?? delta['refusal']),
  ];
}

/** Mostly a string; some servers send words and thoughts as parts. */
function contentIn(content: unknown): Prose[] {
  if (isText(content)) return [{ kind: 'text', text: content }];
  return partsIn(content).flatMap((part): Prose[] => {
    if (part['type'] !== 'thinking') return isText(part['text']) ? [{ kind: 'text', text: part['text'] }] : [];
    return partsIn(part['thinking']).flatMap(({ text }) => (isText(text) ? [{ kind: 'thinking', text }] : []));
  });
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const partsIn = (value: unknown): Delta[] =>
  Array.isArray(value) ? value.filter((part) => typeof part === 'object' && part !== null) : [];
