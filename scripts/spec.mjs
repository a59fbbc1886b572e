// `npm run spec -- <rule or word>`: builds tau and runs the tests that cite a rule of docs/spec.md (`R12`), or whose file or title contains a word.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const word = process.argv.slice(2).join(' ');
if (!word) {
  console.error('Usage: npm run spec -- <rule or word>, for example: npm run spec -- R12, npm run spec -- abort');
  process.exit(2);
}
run(['scripts/build.mjs']);
run(['node_modules/vitest/vitest.mjs', 'run', ...selection()]);

/** The files to run and, where the word is not part of a file's name, the titles in them. */
function selection() {
  const tests = ['test', 'src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.test\.tsx?$/.test(name))
      .map((name) => join(folder, name)),
  );
  const named = tests.filter((path) => path.includes(word));
  if (named.length > 0) return named;
  const pattern = /^[A-Z]\d+$/.test(word) ? `\\[[^\\]]*\\b${word}\\b` : escaped(word);
  const citing = tests.filter((path) => readFileSync(join(root, path), 'utf8').includes(word));
  if (citing.length === 0) fail(`No test names ${word}`);
  return ['-t', pattern, ...citing];
}

function escaped(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function run(args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function fail(text) {
  console.error(text);
  process.exit(1);
}
