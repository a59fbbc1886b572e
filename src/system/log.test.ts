import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLog } from './log.ts';
import { temporaryFolder } from './testing/script.ts';

const base = temporaryFolder();
const newPath = (name: string) => join(mkdtempSync(join(base, 'case-')), name);

it('a log writes its own level and the more severe ones', () => {
  const file = newPath('log');
  const log = openLog({ level: 'info', file });

  for (const level of ['error', 'warn', 'info', 'debug'] as const) log.write(level, 'area', level);

  expect(readFileSync(file, 'utf8').match(/ area \w+$/gm)).toEqual([' area error', ' area warn', ' area info']);
  expect([log.isEnabled('info'), log.isEnabled('debug')]).toEqual([true, false]);
});

it('a log keeps every event on its own line and truncates long values', () => {
  const file = newPath('log');
  const log = openLog({ level: 'info', file });

  log.write('info', 'area', 'happened', { plain: 1, words: 'a b', lines: 'a\nb', empty: '', none: undefined });
  log.write('info', 'area', 'happened', { long: 'x'.repeat(5000) });

  const [first = '', second = '', rest] = readFileSync(file, 'utf8').split('\n');
  expect(first).toMatch(/ info {2}area happened plain=1 words="a b" lines="a\\nb" empty=""$/);
  expect(second.length).toBeLessThan(400);
  expect(rest).toBe('');
});

it('a log rotates a file that has grown too large, and keeps one old file', () => {
  const file = newPath('log.jsonl');
  writeFileSync(file, 'from before\n');
  const log = openLog({ level: 'info', file, maxBytes: 1000 });

  for (let number = 0; number < 100; number++) log.write('info', 'area', 'happened', { number });

  const numbers = [`${file}.1`, file].flatMap((path) =>
    readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).number),
  );
  expect(numbers.at(-1)).toBe(99);
  expect(numbers).toEqual(numbers.map((_, index) => 100 - numbers.length + index));
  for (const path of [file, `${file}.1`]) expect(statSync(path).size).toBeLessThanOrEqual(1000);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('a log neither blocks on a FIFO without a reader nor rotates a device', () => {
  const pipe = newPath('pipe');
  execFileSync('mkfifo', [pipe]);

  expect(() => openLog({ level: 'info', file: pipe })).toThrow('ENXIO');
  const log = openLog({ level: 'info', file: '/dev/null', maxBytes: 10 });
  for (let number = 0; number < 10; number++) log.write('info', 'area', 'happened', { number });
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});

it('a log ignores a full disk', () => {
  const log = openLog({ level: 'info', file: '/dev/full' });

  expect(() => log.write('info', 'area', 'happened')).not.toThrow();
});
