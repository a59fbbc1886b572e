// Generates all files derived from the protocol tables. `--check` fails when a committed file is stale.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { fileList } from './generate/files.mjs';
import { inboundModule, jsonSchema } from './generate/json-schema.mjs';
import { limitList } from './generate/limits.mjs';
import { reference } from './generate/reference.mjs';
import { choices, clientMethods, commandRows, eventNames, versionModule, vocabulary } from './generate/typescript.mjs';

const root = join(import.meta.dirname, '..');

async function loadTables() {
  const outfile = join(tmpdir(), `tau-tables-${process.pid}.mjs`);
  const entryPoints = [join(root, 'src/protocol/tables.ts')];
  await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' });
  try {
    return (await import(pathToFileURL(outfile).href)).tables;
  } finally {
    rmSync(outfile);
  }
}

const tables = await loadTables();
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const files = {
  'src/protocol/generated/vocabulary.ts': vocabulary(tables),
  'src/protocol/generated/command-rows.ts': commandRows(tables),
  'src/protocol/generated/event-names.ts': eventNames(tables),
  'src/protocol/generated/choices.ts': choices(tables),
  'src/protocol/generated/version.ts': versionModule(version),
  'src/protocol/generated/inbound.ts': inboundModule(tables),
  'src/client/generated/methods.ts': clientMethods(tables),
  'docs/schema.json': jsonSchema(tables),
  'docs/protocol.md': reference(tables),
  'docs/files.md': fileList(),
  'docs/limits.md': limitList(),
};

const stale = [];
for (const [path, text] of Object.entries(files)) {
  const target = join(root, path);
  if (read(target) === text) continue;
  if (process.argv.includes('--check')) stale.push(path);
  else {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    console.log(`wrote ${path}`);
  }
}
if (stale.length > 0) {
  console.error(`Not what the protocol tables say: ${stale.join(', ')}. Run: npm run generate`);
  process.exitCode = 1;
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
