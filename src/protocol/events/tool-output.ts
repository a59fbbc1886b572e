import type { ToolExecutionUpdateEvent } from '../generated/vocabulary.ts';

// Text that waits for a slow reader; of more only the end is kept.
const MAX_JOINED_LENGTH = 1024 * 1024;

/**
 * The form of tool progress. `cumulative`: `partialResult`, as in pi. `delta`: the new text and its offset. `both`: all
 * of it.
 */
export type ToolOutputForm = 'cumulative' | 'delta' | 'both';

/** A part of the output of a tool; `offset` counts the UTF-8 bytes before it. */
export interface OutputPart {
  readonly text: string;
  readonly offset: number;
}

/**
 * Converts a `tool_execution_update` to the form that a client selected. One without a delta, of a tool that reports
 * its whole progress, stays as it is.
 */
export function formatToolUpdate(form: ToolOutputForm, update: ToolExecutionUpdateEvent): ToolExecutionUpdateEvent {
  if (form === 'both' || update.outputDelta === undefined) return update;
  if (form === 'cumulative') {
    const { outputDelta: _delta, offset: _offset, ...rest } = update;
    return rest;
  }
  const { partialResult: _result, args: _args, ...rest } = update;
  return rest;
}

/** The newer of two updates of one tool, with the new text of both. */
export function joinToolUpdates(
  earlier: ToolExecutionUpdateEvent,
  later: ToolExecutionUpdateEvent,
): ToolExecutionUpdateEvent {
  const part = joinParts(partOf(earlier), partOf(later), MAX_JOINED_LENGTH);
  return part ? { ...earlier, ...later, outputDelta: part.text, offset: part.offset } : { ...earlier, ...later };
}

export const partOf = ({ outputDelta: text, offset = 0 }: ToolExecutionUpdateEvent): OutputPart | undefined =>
  text === undefined ? undefined : { text, offset };

/** Two parts as one; a gap between them drops the earlier one. Of more than `maxLength` only the end is kept. */
export function joinParts(
  earlier: OutputPart | undefined,
  later: OutputPart | undefined,
  maxLength: number,
): OutputPart | undefined {
  if (!later) return earlier;
  const isNext = earlier !== undefined && earlier.offset + byteLength(earlier.text) === later.offset;
  return endOf(isNext ? { text: earlier.text + later.text, offset: earlier.offset } : later, maxLength);
}

function endOf(part: OutputPart, maxLength: number): OutputPart {
  if (part.text.length <= maxLength) return part;
  const cut = part.text.length - maxLength;
  // Keeps the halves of a character together.
  const start = isLowSurrogate(part.text.charCodeAt(cut)) ? cut + 1 : cut;
  return { text: part.text.slice(start), offset: part.offset + byteLength(part.text.slice(0, start)) };
}

const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;

/** The number of UTF-8 bytes of a text without lone surrogates. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x800 && !(unit >= 0xd800 && unit <= 0xdfff)) bytes += 2;
    else if (unit >= 0x80) bytes += 1;
  }
  return bytes;
}
