import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

const folder = join(import.meta.dirname, '../../dist/page');
const MAX_FIRST_LOAD = 90 * 1024;

const read = (name: string) => readFileSync(join(folder, name));

/** Files that a browser loads before the page works: those named in its HTML and their static imports. */
function firstLoad(): string[] {
  const named = [
    ...read('index.html')
      .toString()
      .matchAll(/(?:href|src)="([\w-]+\.(?:js|css))"/g),
  ];
  const names = new Set(['index.html', ...named.map(([, name = '']) => name)]);
  for (const name of names) {
    for (const [, next = ''] of read(name)
      .toString()
      .matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g))
      names.add(next);
  }
  return [...names];
}

it('the first load of the page is smaller than 90 KB compressed', () => {
  const names = firstLoad();
  const bytes = names.reduce((sum, name) => sum + gzipSync(read(name), { level: 9 }).length, 0);

  expect(names.filter((name) => /^(main|page)-/.test(name))).toHaveLength(3);
  expect(bytes).toBeLessThan(MAX_FIRST_LOAD);
});
