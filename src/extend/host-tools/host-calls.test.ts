import { expect, it, onTestFinished, vi } from 'vitest';
import { parseDefinitions } from './definition.ts';
import { HostCalls } from './host-calls.ts';

it.each([undefined, 0])('[H11] a call of a tool with timeoutMs %s fails after ten minutes', async (timeoutMs) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const tool = { name: 'slow', description: 'x', parameters: {}, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const [definition] = parseDefinitions([tool]);
  const sent: string[] = [];
  const host = { inputClosed: false, send: ({ type }: { type: string }) => void sent.push(type) };
  const call = { toolCallId: 'c', args: {}, signal: new AbortController().signal, update: () => {} };

  const failed = expect(definition && new HostCalls().run(host, definition, call)).rejects.toThrow(
    'did not answer within 600000 ms',
  );
  await vi.advanceTimersByTimeAsync(599_999);
  const before = [...sent];
  await vi.advanceTimersByTimeAsync(1);

  await failed;
  expect([before, sent]).toEqual([['host_tool_call'], ['host_tool_call', 'host_tool_cancel']]);
});
