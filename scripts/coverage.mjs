// Whether the tests cover the protocol: every rule is cited, and every command, frame and event has crossed a wire.
// `--reset` forgets what crossed a wire before; run it, then all tests, then this without it.
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
  const later = readLater();
  const citations = readCitations();
  const tables = readTables();
  const crossed = readWireLog();
  const cited = Object.keys(rules).filter((rule) => citations.has(rule));
  const exercised = (kind) => tables[kind].filter((name) => crossed.has(`${kind} ${name}`)).length;
  return {
    problems: [
      ...uncitedRules(rules, citations),
      ...wrongCitations(rules, citations),
      ...differentMarks(rules, later),
      ...wrongCount(later),
      ...unexercised(tables, later, crossed),
      ...noLongerLater(tables, later, crossed),
    ],
    summary:
      `${cited.length} rules cited, ${exercised('command')} commands, ${exercised('event')} events exercised; ` +
      `${later.items.size} for later`,
  };
}

// What is wrong

const uncitedRules = (rules, citations) =>
  Object.keys(rules)
    .filter((rule) => rules[rule] !== 'later' && !citations.has(rule))
    .map((rule) => `docs/spec.md: no test cites ${rule}`);

const wrongCitations = (rules, citations) =>
  [...citations].flatMap(([rule, files]) => {
    if (rules[rule] === undefined) return files.map((file) => `${file}: cites ${rule}, which is no rule`);
    if (rules[rule] === 'later') return files.map((file) => `${file}: cites ${rule}, which is marked later`);
    return [];
  });

function differentMarks(rules, { items }) {
  const marked = new Set(Object.keys(rules).filter((rule) => rules[rule] === 'later'));
  const listed = new Set([...items].filter((item) => item.startsWith('rule ')).map((item) => item.slice(5)));
  return [
    ...[...marked].filter((rule) => !listed.has(rule)).map((rule) => `docs/later.md: lacks rule ${rule}`),
    ...[...listed].filter((rule) => !marked.has(rule)).map((rule) => `docs/spec.md: ${rule} is not marked later`),
  ];
}

function wrongCount({ items, count, repeated }) {
  const problems = repeated.map((item) => `docs/later.md: ${item} stands twice`);
  if (count > items.size) problems.push(`docs/later.md: lower the count from ${count} to ${items.size}`);
  if (count < items.size) problems.push(`docs/later.md: ${items.size} items, but the count is ${count}: none is added`);
  if (Number.isNaN(count)) problems.push('docs/later.md: there is no count');
  return problems;
}

const unexercised = (tables, { items }, crossed) =>
  everyName(tables)
    .filter((item) => !crossed.has(item) && !items.has(item))
    .map((item) => `${item}: crossed no wire and is not in docs/later.md`);

/** A frame gets no answer: that it was sent does not say that it is built. */
const noLongerLater = (tables, { items }, crossed) =>
  [...items]
    .filter((item) => !item.startsWith('rule '))
    .flatMap((item) => {
      if (!everyName(tables).includes(item)) return [`docs/later.md: ${item} is in no table`];
      return crossed.has(item) && !item.startsWith('frame ') ? [`docs/later.md: ${item} crossed a wire`] : [];
    });

const everyName = (tables) => Object.entries(tables).flatMap(([kind, names]) => names.map((name) => `${kind} ${name}`));

// What there is

/** Each rule with the first word of its status. */
function readRules() {
  const rows = read('docs/spec.md').matchAll(/^\| ([A-Z]\d+) \|.*\| (\w+)[^|]*\|$/gm);
  return Object.fromEntries([...rows].map(([, rule, status]) => [rule, status]));
}

function readLater() {
  const text = read('docs/later.md');
  const items = [...text.matchAll(/^- (\w+ \w+)$/gm)].map(([, item]) => item);
  const repeated = items.filter((item, index) => items.indexOf(item) !== index);
  return { items: new Set(items), repeated, count: Number(/^count: (\d+)$/m.exec(text)?.[1] ?? Number.NaN) };
}

/** The rules that tests name, each with the files that name it. */
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

/** The names of the protocol, as its schema has them. */
function readTables() {
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
