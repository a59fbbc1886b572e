// Lists and reads the files that the checks of scripts/tidy look at.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const root = join(import.meta.dirname, '../..');

export const read = (path) => readFileSync(join(root, path), 'utf8');

export const isTest = (path) => /\.test\.tsx?$/.test(path);

const isGenerated = (path) => path.includes('/generated/');

/** Every file below a folder of the repository whose name matches, as a path from the root. */
export function filesBelow(folder, pattern) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith('test/fixtures/'))
    .sort();
}

/** Source files of src/, without unit tests. */
export const sourceFiles = () => filesBelow('src', /\.tsx?$/).filter((path) => !isTest(path));

/** Every file with code that people write: src, tests, scripts and benchmarks. */
export const handWrittenFiles = () =>
  ['src', 'test', 'scripts', 'bench']
    .flatMap((folder) => filesBelow(folder, /\.(tsx?|mjs|js|css)$/))
    .filter((path) => !isGenerated(path));

/** Every page of documentation. */
export const pages = () => [
  ...filesBelow('docs', /\.md$/),
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
];
