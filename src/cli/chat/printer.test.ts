import { expect, it } from 'vitest';
import { Printer, plainInk } from './printer.ts';

it('lets nothing through that would act on the terminal', () => {
  let printed = '';
  const printer = new Printer((text) => {
    printed += text;
  }, plainInk);

  printer.event({
    type: 'message_update',
    assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: 'a\u001B[2J\u0007b\n' },
  });
  printer.event({
    type: 'tool_execution_end',
    toolCallId: 'c',
    toolName: 'bash',
    result: { content: [{ type: 'text', text: 'x\ty\u009B31mz\r\n' }] },
    isError: false,
  });

  expect(printed).toBe('a[2Jb\n  x\ty31mz\n');
});
