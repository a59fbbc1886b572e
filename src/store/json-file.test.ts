import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MalformedFile, readJsonObject } from './json-file.ts';
import { tempFolder } from './testing/temp-folder.ts';

const BROKEN = '{"providers": {';

/** A parser that counts its calls and lets another program act after it got the text. */
function observedParse(afterRead: () => void = () => {}) {
  const texts: string[] = [];
  const parse = (text: string): unknown => {
    texts.push(text);
    afterRead();
    return JSON.parse(text);
  };
  return { texts, parse };
}

it('[J27] a file that is being written is read again before it is refused', () => {
  const path = join(tempFolder(), 'models.json');
  writeFileSync(path, BROKEN);
  const { texts, parse } = observedParse(() => writeFileSync(path, '{"providers": {}}'));

  expect(readJsonObject(path, parse)).toEqual({ providers: {} });
  expect(texts).toEqual([BROKEN, '{"providers": {}}']);
});

it('[J27] the number of attempts is limited for a file that stays malformed', () => {
  const path = join(tempFolder(), 'models.json');
  const write = () => writeFileSync(path, BROKEN);
  write();
  const { texts, parse } = observedParse(write);

  expect(() => readJsonObject(path, parse)).toThrow(MalformedFile);
  expect(texts).toHaveLength(11);
});

it('[J27] a malformed file that nothing has written lately, and a valid one, are read once', () => {
  const path = join(tempFolder(), 'models.json');
  const { texts, parse } = observedParse();
  writeFileSync(path, '{}');
  expect(readJsonObject(path, parse)).toEqual({});
  writeFileSync(path, BROKEN);
  utimesSync(path, 1000, 1000);

  expect(() => readJsonObject(path, parse)).toThrow(MalformedFile);
  expect(texts).toEqual(['{}', BROKEN]);
});

it('a byte-order mark is ignored', () => {
  const path = join(tempFolder(), 'settings.json');
  writeFileSync(path, '\uFEFF{"theme":"dark"}');

  expect(readJsonObject(path)).toEqual({ theme: 'dark' });
});
