import { describe, expect, it } from 'vitest';
import type {
  AgentEvent,
  AssistantMessageEvent,
  CompactionResult,
  MessageUpdateEvent,
} from '../protocol/generated/vocabulary.ts';
import { defaultDialect, formatUpdate, legacyEvents } from './dialect.ts';
import { empty } from './testing/streams.ts';

const snapshot = { ...empty, content: [{ type: 'text' as const, text: 'so far' }] };
const usage = { ...empty.usage, output: 2 };
const toolCall = { type: 'toolCall' as const, id: 'c1', name: 'read', arguments: {} };
const update = (step: AssistantMessageEvent): MessageUpdateEvent => ({
  type: 'message_update',
  assistantMessageEvent: step,
});

const growing: AssistantMessageEvent[] = [
  { type: 'start' },
  { type: 'text_start', contentIndex: 0 },
  { type: 'text_delta', contentIndex: 0, delta: 'a' },
  { type: 'text_end', contentIndex: 0, content: 'a' },
  { type: 'thinking_start', contentIndex: 1 },
  { type: 'thinking_delta', contentIndex: 1, delta: 'b' },
  { type: 'thinking_end', contentIndex: 1, content: 'b' },
  { type: 'toolcall_start', contentIndex: 2, id: 'c1', toolName: 'read' },
  { type: 'toolcall_delta', contentIndex: 2, delta: '{}' },
  { type: 'toolcall_end', contentIndex: 2, toolCall },
];

describe('the cumulative form', () => {
  it.each(growing)('repeats the message so far twice at $type', (step) => {
    expect(formatUpdate(defaultDialect, { ...update(step), usage }, snapshot)).toEqual({
      type: 'message_update',
      assistantMessageEvent: { ...step, partial: snapshot },
      message: snapshot,
    });
  });

  it('contains the whole message at the end', () => {
    expect(formatUpdate(defaultDialect, update({ type: 'done', reason: 'stop' }), snapshot)).toEqual({
      type: 'message_update',
      assistantMessageEvent: { type: 'done', reason: 'stop', message: snapshot },
      message: snapshot,
    });
    expect(formatUpdate(defaultDialect, update({ type: 'error', reason: 'aborted' }), snapshot)).toEqual({
      type: 'message_update',
      assistantMessageEvent: { type: 'error', reason: 'aborted', error: snapshot },
      message: snapshot,
    });
  });
});

describe('the delta form', () => {
  const delta = { ...defaultDialect, stream: 'delta' as const };

  it.each(growing)('contains only the new part at $type', (step) => {
    expect(formatUpdate(delta, { ...update(step), message: snapshot }, snapshot)).toEqual(update(step));
  });

  it('keeps the usage and omits the message at the end', () => {
    const done = { ...update({ type: 'done', reason: 'stop', message: snapshot }), usage };
    const error = update({ type: 'error', reason: 'error', error: snapshot });

    expect(formatUpdate(delta, done, snapshot)).toEqual({ ...update({ type: 'done', reason: 'stop' }), usage });
    expect(formatUpdate(delta, error, snapshot)).toEqual(update({ type: 'error', reason: 'error' }));
  });
});

describe('older event names', () => {
  const result: CompactionResult = { summary: 's', firstKeptEntryId: 'e', tokensBefore: 1 };
  const end = { result, aborted: false, willRetry: true };
  const error = { extensionPath: 'p', event: 'e', error: 'x' };
  const socket = { ...defaultDialect, hookErrors: true };
  const modern = { ...socket, legacyNames: false };

  it('follow automatic compactions', () => {
    expect(legacyEvents(defaultDialect, { type: 'compaction_start', reason: 'overflow' })).toEqual([
      { type: 'auto_compaction_start', reason: 'overflow' },
    ]);
    expect(legacyEvents(defaultDialect, { type: 'compaction_end', reason: 'threshold', ...end })).toEqual([
      { type: 'auto_compaction_end', ...end },
    ]);
  });

  it('do not follow a manual compaction', () => {
    expect(legacyEvents(defaultDialect, { type: 'compaction_start', reason: 'manual' })).toEqual([]);
    expect(legacyEvents(defaultDialect, { type: 'compaction_end', reason: 'manual', ...end })).toEqual([]);
  });

  it('follow extension errors for clients that expect them', () => {
    const twin = { type: 'hook_error', hookPath: 'p', event: 'e', error: 'x' };

    expect(legacyEvents(socket, { type: 'extension_error', ...error })).toEqual([twin]);
    expect(legacyEvents(defaultDialect, { type: 'extension_error', ...error })).toEqual([]);
  });

  it.each<AgentEvent>([
    { type: 'compaction_start', reason: 'overflow' },
    { type: 'compaction_end', reason: 'overflow', ...end },
    { type: 'extension_error', ...error },
    { type: 'turn_start' },
  ])('are not sent to a client that declined them: $type', (event) => {
    expect(legacyEvents(modern, event)).toEqual([]);
  });
});
