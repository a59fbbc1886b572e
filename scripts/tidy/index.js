#!/usr/bin/env node
// The rules of ARCHITECTURE.md that a compiler does not know. Prints every breach; none is fine.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { checkLazyImports } from './lazy-imports.mjs';
import { checkRatchet } from './ratchet.mjs';
import { read, root } from './source-tree.mjs';

const MAX_LINES = 400;

/** The import table of ARCHITECTURE.md: the folders that each folder may import beside itself. */
const importTable = readImportTable();
const browserSafe = new Set(['protocol', 'wire', 'fanout', 'client', 'web']);
const drawers = /(^|\/)(utils|helpers|common|shared|misc|types)(\/|\.tsx?$)/;

const problems = [];
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.tsx?$/.test(name),
);
for (const file of files) {
  const text = readFileSync(join(root, 'src', file), 'utf8');
  if (drawers.test(file)) problems.push(`src/${file}: a drawer, not a name`);
  if (!file.includes('generated/')) checkLength(file, text);
  if (!/\.test\.tsx?$/.test(file)) for (const specifier of importsOf(text)) checkImport(file, specifier);
}
checkArchitecture();
checkCycles();
checkLinks();
problems.push(...checkLazyImports());
problems.push(...checkRatchet(process.argv.slice(2)));

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

function checkLength(file, text) {
  const lines = text.split('\n').length - 1;
  if (lines > MAX_LINES) problems.push(`src/${file}: ${lines} lines, at most ${MAX_LINES}`);
}

function checkImport(file, specifier) {
  const folder = folderOf(file);
  const isNodeFile = /\.node\.tsx?$/.test(file);
  if (specifier.startsWith('node:') && browserSafe.has(folder) && !isNodeFile) {
    problems.push(`src/${file}: ${specifier} in code that browsers run`);
  }
  if (!specifier.startsWith('.')) return;
  const target = targetOf(file, specifier);
  const other = folderOf(target);
  if (browserSafe.has(folder) && !isNodeFile && /\.node\.tsx?$/.test(target)) {
    problems.push(`src/${file}: ${specifier} only runs in Node`);
  }
  const { folders, inNodeFiles } = importTable.get(folder) ?? { folders: [], inNodeFiles: [] };
  const allowed = isNodeFile ? [...folders, ...inNodeFiles] : folders;
  if (other !== folder && !(folder === 'cli' && other === 'cli/chat') && !allowed.includes(other)) {
    problems.push(`src/${file}: ${folder} may not import ${other}`);
  }
}

function folderOf(file) {
  const [top, second] = file.split('/');
  const folder = importTable.has(`${top}/${second}`) ? `${top}/${second}` : top;
  if (!importTable.has(folder)) problems.push(`ARCHITECTURE.md: the import table lacks ${folder}`);
  return folder;
}

/** The column "may import" of ARCHITECTURE.md: `nothing`, folders, or `all but` folders; `; in *.node.ts also` adds folders for Node's files. */
function readImportTable() {
  const cell =
    /^\| ([\w./]+) \|[^|]*\| (nothing|all but [\w, ]+|[a-z, ]+)(?:; in `\*\.node\.ts` also ([a-z, ]+))? \|[^|]*\|$/gm;
  const rows = [...read('ARCHITECTURE.md').matchAll(cell)];
  const names = (list) => list.split(',').map((name) => name.trim());
  const everyFolder = rows.map(([, folder]) => folder).filter((folder) => !/[./]/.test(folder));
  const folders = (text) => {
    if (text === 'nothing') return [];
    if (!text.startsWith('all but ')) return names(text);
    return everyFolder.filter((folder) => !names(text.slice('all but '.length)).includes(folder));
  };
  return new Map(
    rows.map(([, folder, text, node]) => [folder, { folders: folders(text), inNodeFiles: node ? names(node) : [] }]),
  );
}

function targetOf(file, specifier) {
  return normalize(join(dirname(file), specifier));
}

function importsOf(text) {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, specifier]) => specifier);
}

/** Every folder has a row, and every path that the page names exists, from the root, from src or from the folder of its row. */
function checkArchitecture() {
  const text = read('ARCHITECTURE.md');
  for (const folder of readdirSync(join(root, 'src'), { withFileTypes: true })) {
    if (folder.isDirectory() && !importTable.has(folder.name))
      problems.push(`ARCHITECTURE.md does not name src/${folder.name}`);
  }
  for (const line of text.split('\n')) {
    const row = /^\| ([\w/]+) \|/.exec(line)?.[1] ?? '';
    for (const [, path] of line.matchAll(/`((?:[\w.*-]+\/)*[\w*-]+(?:\.(?:node\.)?(?:tsx?|md|mjs)|\/))`/g)) {
      const plain = path.replace(/\/?[*<].*$/, '');
      const places = ['', 'src', 'src/server', join('src', row)].map((folder) => join(root, folder, plain));
      if (!places.some(existsSync)) problems.push(`ARCHITECTURE.md names ${path}, which does not exist`);
    }
  }
}

/** Links of the front pages lead somewhere. */
function checkLinks() {
  for (const page of ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md']) {
    for (const [, path] of readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)#:]+)\)/g)) {
      if (!existsSync(join(root, path))) problems.push(`${page} links to ${path}, which does not exist`);
    }
  }
}

/** Imports that run at load time must not form a ring; types and lazy imports may. */
function checkCycles() {
  const graph = new Map(files.filter((file) => !/\.test\.tsx?$/.test(file)).map((file) => [file, eagerImports(file)]));
  const done = new Set();
  const walk = (file, trail) => {
    if (done.has(file)) return;
    if (trail.includes(file)) {
      problems.push(`import ring: ${[...trail.slice(trail.indexOf(file)), file].join(' -> ')}`);
      return;
    }
    for (const next of graph.get(file) ?? []) walk(next, [...trail, file]);
    done.add(file);
  };
  for (const file of graph.keys()) walk(file, []);
}

function eagerImports(file) {
  const text = readFileSync(join(root, 'src', file), 'utf8');
  return [...text.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+)'/gm)]
    .filter(([statement]) => !/\{\s*(?:type \w+,?\s*)+\}/.test(statement))
    .map(([, specifier]) => targetOf(file, specifier));
}
