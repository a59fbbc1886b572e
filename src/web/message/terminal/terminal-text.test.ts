import { expect, it } from 'vitest';
import { ended, terminalText } from './terminal-text.ts';

const ESC = '\u001b';

it('what a terminal shows is without its codes, and without what was written over', () => {
  expect(terminalText(`${ESC}[1;32mok${ESC}[0m ${ESC}]0;title\u0007done\n10%\r50%\r100%\r\n\n`)).toBe('ok done\n100%');
  expect(terminalText('(no output)')).toBe('');
  expect(terminalText('\r\r\n\r\ra\r\r')).toBe('\na');
  expect(terminalText(`${'\r'.repeat(200_000)}x`)).toBe('x');
});

it('how a command ended is told by its last line', () => {
  expect(ended('a\n\nCommand exited with code 2')).toEqual({ said: 'a', how: 'exit 2' });
  expect(ended('Command timed out after 5 seconds')).toEqual({ said: '', how: 'timed out' });
  expect(ended('a\n\nCommand was killed by SIGKILL').how).toBe('killed by SIGKILL');
  expect(ended('Command exited with code 2\nand went on')).toEqual({
    said: 'Command exited with code 2\nand went on',
    how: undefined,
  });
});

it.each([
  'Command aborted',
  'Operation aborted',
  'The operation was aborted',
  'This operation was aborted',
  'Host tool "pay" was aborted',
])('that somebody stopped it is told by: %s', (words) => {
  expect(ended(words)).toEqual({ said: '', how: 'stopped' });
  expect(ended(`some output\n\n${words}\n`)).toEqual({ said: 'some output', how: 'stopped' });
  expect(ended(`${words}, and rolled back`).how).toBeUndefined();
});
