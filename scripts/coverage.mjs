// Checks that tests cite every rule and that every command, frame and event has crossed a wire.
// `--reset` clears the log of crossings; run it, then all tests, then this without it.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');

function report({ problems, summary }) {
  for (const problem of problems) console.error(problem);
  if (problems.length === 0) console.log(summary);
  else process.exitCode = 1;
}

function check() {
  const rules = readRules();
  const citations = readCitations();
  const tables = readProtocolNames();
  const crossed = readWireLog();
  const names = Object.entries(tables).flatMap(([kind, list]) => list.map((name) => `${kind} ${name}`));
  const exercised = (kind) => tables[kind].filter((name) => crossed.has(`${kind} ${name}`)).length;
  return {
    problems: [
      ...[...rules].filter((rule) => !citations.has(rule)).map((rule) => `docs/spec.md: no test cites ${rule}`),
      ...wrongCitations(rules, citations),
      ...names.filter((name) => !crossed.has(name)).map((name) => `${name}: crossed no wire`),
    ],
    summary: `${rules.size} rules cited, ${exercised('command')} commands, ${exercised('event')} events exercised`,
  };
}

const wrongCitations = (rules, citations) =>
  [...citations].flatMap(([rule, files]) =>
    rules.has(rule) ? [] : files.map((file) => `${file}: cites ${rule}, which is not a rule`),
  );

const readRules = () => new Set([...read('docs/spec.md').matchAll(/^\| ([A-Z]\d+) \|/gm)].map(([, rule]) => rule));

/** The rules that tests cite, each with the citing files. */
function readCitations() {
  const citations = new Map();
  for (const file of [...filesIn('test', '.ts'), ...filesIn('src', '.test.ts')]) {
    for (const rule of new Set([...citationsIn(read(file))]))
      citations.set(rule, [...(citations.get(rule) ?? []), file]);
  }
  return citations;
}

function* citationsIn(text) {
  for (const [, ids] of text.matchAll(/\bverifies\(\s*['"`]([^'"`]*)['"`]/g)) yield* ids.match(/\S+/g) ?? [];
  for (const [, ids] of text.matchAll(/\(\s*['"`]\[([A-Z]\d+(?:[ ,]+[A-Z]\d+)*)\]/g)) yield* ids.match(/\w+/g) ?? [];
}

/** The commands, frames and events of the published schema. */
function readProtocolNames() {
  const { $defs } = JSON.parse(read('docs/schema.json'));
  const members = (schema) => {
    if (schema.$ref) return members($defs[schema.$ref.split('/').at(-1)]);
    return schema.anyOf ? schema.anyOf.flatMap(members) : [schema.properties];
  };
  const outbound = members($defs.outbound);
  const answers = outbound.filter(({ type, success }) => type.const === 'response' && success.const === true);
  const command = answers.map((record) => record.command.const);
  const inbound = members($defs.inbound).map(({ type }) => type.const);
  return {
    command,
    frame: [...new Set(inbound.filter((name) => !command.includes(name)))],
    event: [...new Set(outbound.map(({ type }) => type.const))].filter((name) => name !== 'response'),
  };
}

const readWireLog = () => new Set(filesIn('.wire-log', '.txt').flatMap((file) => read(file).match(/.+/g) ?? []));

const read = (file) => readFileSync(join(root, file), 'utf8');

function filesIn(folder, ending) {
  try {
    return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .sort();
  } catch {
    return [];
  }
}

if (process.argv.includes('--reset')) rmSync(join(root, '.wire-log'), { recursive: true, force: true });
else report(check());
