import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** Size of the files that a browser fetches before the page runs: those it names and their imports. */
export const pageSize = {
  name: 'page-size',
  rounds: 1,

  samplers(workspace) {
    const read = (name) => readFileSync(workspace.path(`dist/page/${name}`));
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
