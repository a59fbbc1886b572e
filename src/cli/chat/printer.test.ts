import { expect, it } from 'vitest';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { Printer, plainInk } from './printer.ts';

it('control characters are not printed', () => {
  const { printer, printed } = captured();

  printer.event({
    type: 'message_update',
    assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: 'a\u001B[2J\u0007b\n' },
  });
  printer.event({ type: 'tool_execution_start', toolCallId: 'c', toolName: 'ba\u001B[sh', args: { c: 'l\rs' } });
  printer.event({
    type: 'tool_execution_end',
    toolCallId: 'c',
    toolName: 'bash',
    result: { content: [{ type: 'text', text: 'x\ty\u009B31mz\r\n' }] },
    isError: false,
  });
  printer.failure(new Error('no\u001Bthing'));

  expect(printed()).toBe('a[2Jb\n▸ ba[sh ls\n  x\ty31mz\nnothing\n');
});

it('a note starts on its own line', () => {
  const { printer, printed } = captured();

  printer.event({
    type: 'message_update',
    assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: 'half a line' },
  });
  printer.note('(queued)');

  expect(printed()).toBe('half a line\n(queued)\n');
});

it('the rules that stopped a message are printed', () => {
  const { printer, printed } = captured();

  printer.event({ type: 'ttsr_triggered', rules: [{ name: 'no-any' }, { name: 'tidy\u001B' }] });

  expect(printed()).toBe('(rule: no-any, tidy)\n');
});

it('unknown events are not printed', () => {
  const { printer, printed } = captured();

  printer.event({ type: 'from_the_future' } as unknown as AgentEvent);
  printer.event({ type: 'extension_ui_request', id: 'd', method: 'confirm', title: 'Really?', message: '' });

  expect(printed()).toBe('');
});

function captured(): { printer: Printer; printed: () => string } {
  let text = '';
  const target = {
    get atLineStart() {
      return text === '' || text.endsWith('\n');
    },
    print: (more: string) => {
      text += more;
    },
  };
  return { printer: new Printer(target, plainInk), printed: () => text };
}
