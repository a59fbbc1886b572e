import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** What a browser fetches before the page can do anything: what it names, and what that imports. */
export const pageSize = {
  name: 'page-size',
  rounds: 1,

  samplers(place) {
    const read = (name) => readFileSync(place.path(`dist/page/${name}`));
    return { first: () => firstLoad(read) };
  },

  rows({ first }) {
    return [{ what: 'first load, gzip', unit: 'KB', value: first.bytes / 1024, limit: { value: 90 } }];
  },
};

function firstLoad(read) {
  const names = new Set(['index.html']);
  let bytes = 0;
  for (const name of names) {
    const file = read(name);
    bytes += gzipSync(file, { level: 9 }).length;
    const named = file.toString().matchAll(/(?:href=|src=|from|import)"(?:\.\/)?([\w-]+\.(?:js|css))"/g);
    for (const [, other] of named) names.add(other);
  }
  return { bytes };
}
