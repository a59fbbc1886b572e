// Counts names defined twice, crowded folders and files too small to stand alone.
import { dirname, join, normalize } from 'node:path';
import { handWrittenFiles, read, sourceFiles } from './source-tree.mjs';

const MAX_FILES_IN_A_FOLDER = 16;
const MIN_LINES_OF_A_SINGLE_USE_FILE = 30;

export function countShelves() {
  const files = sourceFiles().map((path) => ({ path, text: read(path) }));
  const handWritten = files.filter(({ path }) => !path.includes('/generated/'));
  return {
    typesDefinedTwice: definedTwice(
      handWritten,
      /^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm,
    ),
    limitsDefinedTwice: definedTwice(handWritten, /\bconst (MAX_\w+|\w+_MS)\b/g),
    crowdedFolders: crowdedFolders(files),
    smallSingleUseFiles: smallSingleUseFiles(files),
    filesWithoutPurpose: handWritten.filter(({ text }) => !opensWithItsExport(text)).map(({ path }) => path),
  };
}

function definedTwice(files, pattern) {
  const places = new Map();
  for (const { path, text } of files) {
    for (const name of new Set([...text.matchAll(pattern)].map(([, name]) => name)))
      places.set(name, [...(places.get(name) ?? []), path]);
  }
  return [...places].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`);
}

function crowdedFolders(files) {
  const counts = new Map();
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > MAX_FILES_IN_A_FOLDER)
    .map(([folder, count]) => `${folder}: ${count} files`);
}

function smallSingleUseFiles(files) {
  const importers = new Map();
  for (const path of handWrittenFiles().filter((path) => !/\.test\.tsx?$|\.css$/.test(path))) {
    for (const [, specifier] of read(path).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
      const target = normalize(join(dirname(path), specifier));
      importers.set(target, (importers.get(target) ?? new Set()).add(path));
    }
  }
  const isSmall = ({ text }) => text.split('\n').length - 1 < MIN_LINES_OF_A_SINGLE_USE_FILE;
  return files.filter((file) => isSmall(file) && importers.get(file.path)?.size === 1).map(({ path }) => path);
}

/** Whether the first doc comment is the one of an export: docs/files.md prints it as the purpose of the file. */
function opensWithItsExport(text) {
  const comment = /^\/\*\*[\s\S]*?\*\//m.exec(text);
  return comment !== null && /^\s*export\b/.test(text.slice(comment.index + comment[0].length));
}
