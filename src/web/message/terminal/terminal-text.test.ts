import { expect, it } from 'vitest';
import { splitEnding, terminalText } from './terminal-text.ts';

const ESC = '\u001b';

it('terminal text has no escape sequences and no overwritten text', () => {
  expect(terminalText(`${ESC}[1;32mok${ESC}[0m ${ESC}]0;title\u0007done\n10%\r50%\r100%\r\n\n`)).toBe('ok done\n100%');
  expect(terminalText('(no output)')).toBe('');
  expect(terminalText('\r\r\n\r\ra\r\r')).toBe('\na');
  expect(terminalText(`${'\r'.repeat(200_000)}x`)).toBe('x');
});

it('the last line of the output determines how a command ended', () => {
  expect(splitEnding('a\n\nCommand exited with code 2')).toEqual({ output: 'a', ending: 'exit 2' });
  expect(splitEnding('Command timed out after 5 seconds')).toEqual({ output: '', ending: 'timed out' });
  expect(splitEnding('a\n\nCommand was killed by SIGKILL').ending).toBe('killed by SIGKILL');
  expect(splitEnding('Command exited with code 2\nand went on')).toEqual({
    output: 'Command exited with code 2\nand went on',
    ending: undefined,
  });
});

it.each([
  'Command aborted',
  'Operation aborted',
  'The operation was aborted',
  'This operation was aborted',
  'Host tool "pay" was aborted',
])('an aborted command ends as stopped: %s', (words) => {
  expect(splitEnding(words)).toEqual({ output: '', ending: 'stopped' });
  expect(splitEnding(`some output\n\n${words}\n`)).toEqual({ output: 'some output', ending: 'stopped' });
  expect(splitEnding(`${words}, and rolled back`).ending).toBeUndefined();
});
