import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { sizeText } from '../../system/size-text.ts';
import { fine, runChecks } from './finding.ts';
import { diskSpaceFinding, futureFolderFinding } from './folders.ts';
import { nodeFinding } from './installation.ts';

describe('runChecks', () => {
  it('returns findings in the order of the checks; a throwing check becomes a finding', async () => {
    const found = await runChecks({
      slow: () => new Promise((resolve) => setImmediate(() => resolve(fine('slow', 'done')))),
      broken: () => {
        throw new Error('no home');
      },
      several: () => [fine('one', '1'), fine('two', '2')],
    });

    expect(found).toEqual([
      fine('slow', 'done'),
      { check: 'broken', status: 'error', message: 'no home' },
      fine('one', '1'),
      fine('two', '2'),
    ]);
  });

  it('does not wait for a check that never settles', async () => {
    const found = await runChecks({ 'network folder': () => new Promise(() => {}) });

    expect(found).toMatchObject([{ check: 'network folder', status: 'warning' }]);
  });
});

describe('disk space', () => {
  it('is a warning when it is low, also for future folders', async () => {
    const folder = tempFolder();
    const folders = [join(folder, 'not', 'yet'), folder];

    expect(await diskSpaceFinding(folders, 0)).toMatchObject({
      status: 'ok',
      message: expect.stringContaining(folder),
    });
    expect(await diskSpaceFinding(folders, Number.POSITIVE_INFINITY)).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/^[^,]+ free in .+: make room/),
    });
  });
});

describe('a future folder', () => {
  it('is fine below a folder, and an error below a file', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'file'), '');

    expect(await futureFolderFinding('it', join(folder, 'a', 'b'), 'Do this')).toMatchObject({ status: 'ok' });
    expect(await futureFolderFinding('it', join(folder, 'file', 'b'), 'Do this')).toMatchObject({
      status: 'error',
      message: expect.stringContaining('Do this'),
    });
  });
});

it.each([
  ['18.20.0', 'error'],
  ['20.18.3', 'error'],
  ['20.19.0', 'ok'],
  ['24.1.0', 'ok'],
])('Node %s is %s', (version, status) => {
  expect(nodeFinding(version)).toMatchObject({ status });
});

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.5 KB'],
  [80_000_000_000, '74.5 GB'],
])('%d bytes are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});
