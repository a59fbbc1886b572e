import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ToolCall, ToolResultMessage } from '../protocol/generated/vocabulary.ts';
import type { LoopEvent } from './loop.ts';
import { refuseTools, runTools, type ToolRun } from './run-tools.ts';
import { type Tool, type ToolInvocation, type ToolOutput, textOutput } from './tool.ts';

const call = (id: string, name = 'act', args: Record<string, unknown> = {}): ToolCall => ({
  type: 'toolCall',
  id,
  name,
  arguments: args,
});

/** A tool with the given implementation. */
const tool = (execute: (invocation: ToolInvocation) => Promise<ToolOutput>): Tool => ({
  name: 'act',
  description: 'Acts',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
  execute,
});

const returning = (text: string) => tool(async () => textOutput(text));

const run = (options: Partial<ToolRun>): ToolRun => ({
  calls: [call('1')],
  tools: [returning('done')],
  hooks: {},
  signal: new AbortController().signal,
  sequential: false,
  isInterrupted: () => false,
  ...options,
});

async function drain(tools: AsyncGenerator<LoopEvent, ToolResultMessage[]>) {
  const events: LoopEvent[] = [];
  while (true) {
    const { value, done } = await tools.next();
    if (done) return { events, results: value, outline: events.map(summaryOf) };
    events.push(value);
  }
}

const summaryOf = (event: LoopEvent) =>
  'toolCallId' in event ? `${event.type.replace('tool_execution_', '')} ${event.toolCallId}` : event.type;

const textsOf = (results: readonly ToolResultMessage[]) =>
  results.map(({ content: [block] }) => (block?.type === 'text' ? block.text : block?.type));

/** A promise and the function that resolves it. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('one call', () => {
  it('with invalid arguments gets an error that echoes only part of them', async () => {
    const huge = call('1', 'act', { path: 1, text: 'x'.repeat(1_000_000) });

    const { results } = await drain(runTools(run({ calls: [huge] })));

    expect(textsOf(results)[0]).toMatch(/^Validation failed for tool "act":\n {2}- path: must be a string\n/);
    expect(textsOf(results)[0]?.length).toBeLessThan(3000);
  });

  it('publishes a start, its progress and an end, and returns a result', async () => {
    const progressing = tool(async ({ update }) => {
      update(textOutput('half'));
      return { ...textOutput('whole'), details: { lines: 1 } };
    });

    const { events, results } = await drain(
      runTools(run({ calls: [call('1', 'act', { path: 'x' })], tools: [progressing] })),
    );

    const named = { toolCallId: '1', toolName: 'act' };
    const whole = { content: [{ type: 'text', text: 'whole' }], details: { lines: 1 } };
    expect(events).toEqual([
      { type: 'tool_execution_start', ...named, args: { path: 'x' } },
      {
        type: 'tool_execution_update',
        ...named,
        args: { path: 'x' },
        partialResult: { content: [{ type: 'text', text: 'half' }] },
      },
      { type: 'tool_execution_end', ...named, result: whole, isError: false, durationMs: expect.any(Number) },
    ]);
    const measured = { timestamp: expect.any(Number), durationMs: expect.any(Number) };
    expect(results).toEqual([{ role: 'toolResult', ...named, ...whole, isError: false, ...measured }]);
  });

  it('[T9] may return an image with its data and its type', async () => {
    const image = { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' };

    const { events, results } = await drain(runTools(run({ tools: [tool(async () => ({ content: [image] }))] })));

    expect(events.at(-1)).toMatchObject({ result: { content: [image] } });
    expect(results).toMatchObject([{ content: [image] }]);
  });

  it.each([
    ['that fails', run({ tools: [tool(async () => Promise.reject(new Error('no luck')))] }), 'no luck'],
    ['that throws something else', run({ tools: [tool(async () => Promise.reject('word'))] }), 'word'],
    ['of a tool that does not exist', run({ calls: [call('1', 'fly')] }), 'Tool fly not found'],
    ['that is blocked', run({ hooks: { toolCall: async () => ({ block: 'not you' }) } }), 'not you'],
    ['whose hook fails', run({ hooks: { toolCall: async () => Promise.reject(new Error('hook')) } }), 'hook'],
    ['after an abort', run({ signal: AbortSignal.abort() }), 'Operation aborted'],
  ])('%s returns an error result', async (_what, toolRun, text) => {
    const { outline, results } = await drain(runTools(toolRun));

    expect(outline).toEqual(['start 1', 'end 1']);
    expect(results).toMatchObject([{ isError: true, content: [{ type: 'text', text }], details: {} }]);
  });

  it('with arguments that do not match the schema names the mismatch, and the tool does not run', async () => {
    let ran = false;
    const recording = tool(async () => {
      ran = true;
      return textOutput('ran');
    });

    const { events, results } = await drain(
      runTools(run({ calls: [call('1', 'act', { path: 7, more: true })], tools: [recording] })),
    );

    expect(textsOf(results)).toEqual([
      'Validation failed for tool "act":\n  - path: must be a string\n\nReceived arguments:\n{\n  "path": 7,\n  "more": true\n}',
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'tool_execution_end', isError: true });
    expect(ran).toBe(false);
  });

  it('passes its arguments through prepareArguments before they are checked', async () => {
    const echo = {
      ...tool(async ({ args }) => textOutput(String(args['path']))),
      prepareArguments: () => ({ path: 'x' }),
    };

    const { events, results } = await drain(runTools(run({ calls: [call('1', 'act', { path: 7 })], tools: [echo] })));

    expect(textsOf(results)).toEqual(['x']);
    expect(events[0]).toMatchObject({ args: { path: 7 } });
  });

  it('runs with the arguments of the hook, and its events carry those of the model', async () => {
    const echo = tool(async ({ args }) => textOutput(String(args['path'])));
    const hooks = { toolCall: async () => ({ args: { path: 'theirs' } }) };

    const { events, results } = await drain(
      runTools(run({ calls: [call('1', 'act', { path: 'mine' })], tools: [echo], hooks })),
    );

    expect(events[0]).toMatchObject({ args: { path: 'mine' } });
    expect(textsOf(results)).toEqual(['theirs']);
  });

  it('returns the result of the hook; a failing hook changes nothing', async () => {
    const replaced = { ...textOutput('other'), isError: true };

    const [changed, kept] = [
      await drain(runTools(run({ hooks: { toolResult: async () => replaced } }))),
      await drain(runTools(run({ hooks: { toolResult: async () => Promise.reject(new Error('hook')) } }))),
    ];

    expect(changed.results).toMatchObject([{ isError: true, content: replaced.content }]);
    expect(kept.results).toMatchObject([{ isError: false, content: [{ text: 'done' }] }]);
  });
});

describe('several calls', () => {
  it('run concurrently: end events in completion order, results in call order', async () => {
    const first = gate();
    const waiting = tool(async ({ toolCallId }) => {
      if (toolCallId === '1') await first.opened;
      else first.open();
      return textOutput(toolCallId);
    });

    const { outline, results } = await drain(
      runTools(run({ calls: ['1', '2', '3'].map((id) => call(id)), tools: [waiting] })),
    );

    expect(outline.slice(0, 3)).toEqual(['start 1', 'start 2', 'start 3']);
    expect(outline.slice(3)).toEqual(['end 2', 'end 3', 'end 1']);
    expect(textsOf(results)).toEqual(['1', '2', '3']);
  });

  it('publish no update after their end', async () => {
    const second = gate();
    const updating = tool(async ({ toolCallId, update }) => {
      if (toolCallId === '2') await second.opened;
      else
        setImmediate(() => {
          update(textOutput('late'));
          second.open();
        });
      return textOutput('done');
    });

    const { outline } = await drain(runTools(run({ calls: [call('1'), call('2')], tools: [updating] })));

    expect(outline).toEqual(['start 1', 'start 2', 'end 1', 'end 2']);
  });

  it('run one after another in sequential mode until an interruption', async () => {
    let interrupted = false;
    const ran: string[] = [];
    const steering = tool(async ({ toolCallId }) => {
      ran.push(toolCallId);
      interrupted = toolCallId === '2';
      return textOutput('ran');
    });

    const { outline, results } = await drain(
      runTools(
        run({
          calls: ['1', '2', '3', '4'].map((id) => call(id)),
          tools: [steering],
          sequential: true,
          isInterrupted: () => interrupted,
        }),
      ),
    );

    expect(ran).toEqual(['1', '2']);
    expect(outline).toEqual(['start 1', 'end 1', 'start 2', 'end 2', 'start 3', 'end 3', 'start 4', 'end 4']);
    expect(textsOf(results)).toEqual([
      'ran',
      'ran',
      'Skipped due to queued user message.',
      'Skipped due to queued user message.',
    ]);
    expect(results.map(({ isError }) => isError)).toEqual([false, false, true, true]);
  });

  it('always run the first, even if steering is already queued', async () => {
    const { results } = await drain(
      runTools(run({ calls: [call('1'), call('2')], sequential: true, isInterrupted: () => true })),
    );

    expect(textsOf(results)).toEqual(['done', 'Skipped due to queued user message.']);
  });

  it('that are refused each return the reason', async () => {
    const { outline, results } = await drain(refuseTools([call('1'), call('2')], 'No.'));

    expect(outline).toEqual(['start 1', 'end 1', 'start 2', 'end 2']);
    expect(textsOf(results)).toEqual(['No.', 'No.']);
  });
});

describe('a tool that does not stop', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('gets an error result after the grace period', async () => {
    const controller = new AbortController();
    const stubborn = tool(() => new Promise(() => {}));
    const draining = drain(runTools(run({ tools: [stubborn], signal: controller.signal })));
    await vi.advanceTimersByTimeAsync(0);

    controller.abort();
    await vi.advanceTimersByTimeAsync(5000);

    const { outline, results } = await draining;
    expect(outline).toEqual(['start 1', 'end 1']);
    expect(textsOf(results)).toEqual(['The tool did not stop after the abort']);
  });
});
