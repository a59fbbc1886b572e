import { expect, it } from 'vitest';
import { assistant, block, call, prompt, result } from '../testing/sample-messages.ts';
import { recordsOf } from './record.ts';

const recordOf = (messages: Parameters<typeof recordsOf>[0]) => recordsOf(messages, 1_000_000).join('');

it('a record names the author of each message and omits thinking', () => {
  const messages = [
    prompt('find it'),
    assistant([
      { type: 'thinking', thinking: 'hm' },
      block('Looking.'),
      { ...call('1', 'grep'), arguments: { pattern: 'x' } },
    ]),
    result('1', 'a.ts:3'),
    assistant([block('There.'), block(' \n')]),
  ];

  expect(recordOf(messages)).toBe(
    [
      '[User]: find it',
      '[Assistant]: Looking.',
      '[Tool call]: grep({"pattern":"x"})',
      '[Tool result]: a.ts:3',
      '[Assistant]: There.',
    ].join('\n\n'),
  );
});

it('long results are truncated with a notice of the removed length', () => {
  const record = recordOf([assistant([call('1')]), result('1', 'x'.repeat(2345))]);

  expect(record).toContain(`[Tool result]: ${'x'.repeat(2000)}\n[… 345 more characters]`);
  expect(recordOf([assistant([call('1')]), result('1', 'x'.repeat(2000))])).not.toContain('more characters');
});

it('long user messages stay complete', () => {
  expect(recordOf([prompt('x'.repeat(9000))])).toHaveLength('[User]: '.length + 9000);
});

it('an image is replaced by a placeholder', () => {
  const image = { type: 'image', data: 'aaaa', mimeType: 'image/png' } as const;

  expect(recordOf([{ role: 'user', content: [{ type: 'text', text: 'see' }, image], timestamp: 1 }])).toBe(
    '[User]: see\n[image]',
  );
  expect(recordOf([{ role: 'user', content: 'plain', timestamp: 1 }])).toBe('[User]: plain');
});

it('failed assistant messages and excluded commands are omitted', () => {
  const excluded = {
    role: 'bashExecution',
    command: 'ls',
    output: 'x',
    cancelled: false,
    truncated: false,
    excludeFromContext: true,
    timestamp: 1,
  } as const;

  expect(recordOf([prompt('a'), assistant([block('half')], { stopReason: 'aborted' }), excluded, prompt('b')])).toBe(
    '[User]: a\n\n[User]: b',
  );
});

it('branch summaries and command output appear as the model received them', () => {
  const record = recordOf([
    { role: 'branchSummary', summary: 'tried it', fromId: 'x', timestamp: 1 },
    { role: 'bashExecution', command: 'ls', output: 'a.txt', cancelled: false, truncated: false, timestamp: 1 },
  ]);

  expect(record).toMatch(/^\[User\]: [\s\S]*tried it[\s\S]*\n\n\[User\]: [\s\S]*a\.txt/);
});

it('a long conversation becomes several records in order, none longer than the limit', () => {
  const messages = Array.from({ length: 9 }, (_, index) => prompt(`${index} ${'x'.repeat(index === 4 ? 900 : 90)}`));

  const records = recordsOf(messages, 250);

  expect(Math.max(...records.map(({ length }) => length))).toBeLessThanOrEqual(250);
  expect([...records.join('').matchAll(/\[User\]: (\d)/g)].map(([, digit]) => digit).join('')).toBe('012345678');
  expect(records.join('')).toContain('more characters]');
});

it('a truncated text keeps whole characters only, also before replacement characters', () => {
  const text = (character: string) => recordsOf([prompt(character.repeat(500))], 400).join('');

  expect(text('€')).not.toContain('\uFFFD');
  expect(text('😀').split('\n')[0]).toMatch(/^\[User\]: (😀)+$/u);
  expect(text('\uFFFD').split('\n')[0]).toMatch(/^\[User\]: \uFFFD+$/);
});
