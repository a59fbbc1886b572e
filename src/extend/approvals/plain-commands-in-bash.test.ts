// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of bash
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { type Argv, plainCommands } from './plain-commands.ts';

// Records the words of every command that bash starts, and starts no program. A count of 0 begins a line.
const RECORDER = String.raw`
PATH=/nonexistent
record() { builtin printf '%s\0' "$#" "$@" >&3; return $status; }
command_not_found_handle() { record "$@"; }
for name in echo false kill printf pwd true; do eval "$name() { record $name \"\$@\"; }"; done
while IFS= read -r -d '' status && IFS= read -r -d '' names && IFS= read -r -d '' line; do
  builtin printf '0\0' >&3
  (
    for name in $names; do eval "function $name { record $name \"\$@\"; }"; done
    eval "$line"
  ) </dev/null >/dev/null 2>/dev/null
done
exit 0
`;

interface Run {
  readonly line: string;
  readonly status: 0 | 1;
  readonly commands: readonly Argv[];
}

/** The words of the commands that bash starts for each line, if all of them exit with this status. */
function recordedByBash(runs: readonly Run[]): Argv[][] {
  const folder = mkdtempSync(join(tmpdir(), 'tau-bash-'));
  try {
    const lines = join(folder, 'lines');
    const names = ({ commands }: Run) => commands.map(([name = '']) => name).filter((name) => name.includes('/'));
    writeFileSync(lines, runs.map((run) => `${run.status}\0${names(run).join(' ')}\0${run.line}\0`).join(''));
    const script = `exec 3>records <lines\n${RECORDER}`;
    execFileSync('bash', ['--norc', '--noprofile', '-c', script], { cwd: folder, env: {} });
    return parseRecords(readFileSync(join(folder, 'records'), 'latin1').split('\0'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function parseRecords(fields: readonly string[]): Argv[][] {
  const lines: Argv[][] = [];
  for (let at = 0; at < fields.length - 1; ) {
    const count = Number(fields[at]);
    if (count === 0) lines.push([]);
    else lines.at(-1)?.push(fields.slice(at + 1, at + 1 + count));
    at += 1 + count;
  }
  return lines;
}

/** The commands that bash starts, in the order of pipelines; those of one pipeline start together. */
function expectedOf({ line, status, commands }: Run): Argv[][] {
  const operators = line.replaceAll(/'[^']*'|"[^"]*"/g, '').match(/&&|\|\||;|\|/g) ?? [];
  const pipelines: Argv[][] = [];
  let isStarted = true;
  for (const [index, words] of commands.entries()) {
    const operator = operators[index - 1];
    if (operator !== '|') {
      isStarted = operator === '&&' ? status === 0 : operator === '||' ? status === 1 : true;
      if (isStarted) pipelines.push([]);
    }
    if (isStarted) pipelines.at(-1)?.push(words);
  }
  return pipelines;
}

/** The recorded commands in pipelines of these sizes; more of them make one more pipeline. */
function inPipelines(recorded: readonly Argv[], sizes: readonly number[]): Argv[][] {
  const rest = [...recorded];
  const pipelines = sizes.map((size) => rest.splice(0, size));
  return rest.length > 0 ? [...pipelines, rest] : pipelines;
}

const texts = (pipelines: readonly Argv[][]) =>
  pipelines.map((words) => words.map((one) => JSON.stringify(one)).sort());

const names = [
  'a',
  'b',
  'git',
  'npm',
  './c',
  'd/e',
  '2',
  '@',
  '..',
  '+x',
  'echo',
  'true',
  'false',
  'pwd',
  'kill',
  'printf',
];
const values = [
  '-v',
  '--f=g',
  'x=1',
  '%s',
  '%1',
  ':',
  '/',
  '0x',
  'in',
  "''",
  '""',
  "'a b'",
  '"a b"',
  "'$x'",
  `"'"`,
  `'"'`,
  "'&&'",
];
const operators = ['&&', '||', ';', '|', ' '];
const keywords =
  'if then else fi do done time coproc function case in select while until for { } ! [[ ]] ' +
  '. : cd eval exec test let read set shift trap type unset wait jobs export alias local declare source return builtin';
const signs = [
  '(',
  ')',
  '[',
  ']',
  '&',
  '>',
  '<',
  '<<',
  '2>&1',
  '|&',
  ';;',
  '*',
  '?',
  '~',
  '#',
  '\\',
  '\n',
  '\t',
  '`',
  "'",
  '"',
];
const expansions = [
  '{a,b}',
  '!!',
  '$x',
  '${x}',
  '$(a)',
  '$((1))',
  "$'a'",
  '~a',
  '=a',
  'a=',
  'PATH=/x',
  'a+=b',
  '@(a)',
  '<(a)',
  '%',
];
const quoted = ['"$x"', '"${x}"', '"`a`"', '"$(a)"', '"\\a"', '"\\""', '"\\\\"', '"a!b"', "'\\'"];
const piece = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom(...names, ...values) },
  { weight: 16, arbitrary: fc.constantFrom(...operators) },
  { weight: 4, arbitrary: fc.constantFrom(...keywords.split(' ')) },
  { weight: 3, arbitrary: fc.constantFrom(...signs, ...expansions, ...quoted) },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 3, unit: 'grapheme-ascii' }) },
);
const randomLine = fc
  .array(fc.tuple(piece, fc.constantFrom(' ', ' ', ' ', '  ', '')), { minLength: 1, maxLength: 10 })
  .map((pieces) => pieces.flat().join(''));

const { SOAK, FUZZ_SEED } = process.env;
const SAMPLE = 2000;
const count = SOAK ? 300_000 : 3 * SAMPLE;
const firstSeed = Number(FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`bash runs every plain line of ${count} with exactly these words, with FUZZ_SEED=${firstSeed}`, {
  timeout: 3_600_000,
}, () => {
  let accepted = 0;
  for (let seed = firstSeed; seed < firstSeed + count / SAMPLE; seed++) {
    const runs = fc.sample(randomLine, { numRuns: SAMPLE, seed }).flatMap((line): Run[] => {
      const commands = plainCommands(line);
      if (!commands) return [];
      accepted++;
      return [0 as const, 1 as const].map((status) => ({ line, status, commands }));
    });
    const recorded = recordedByBash(runs);
    for (const [index, run] of runs.entries()) {
      const expected = expectedOf(run);
      const actual = inPipelines(
        recorded[index] ?? [],
        expected.map(({ length }) => length),
      );
      const { line, status } = run;
      if (JSON.stringify(texts(actual)) !== JSON.stringify(texts(expected)))
        expect({ seed, line, status, words: texts(actual) }).toEqual({ seed, line, status, words: texts(expected) });
    }
  }
  process.stderr.write(`${accepted} of ${count} lines are plain, seed ${firstSeed}\n`);
  expect(accepted).toBeGreaterThan(count / 20);
});

it('bash starts real programs with exactly these words', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tau-bash-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const program = `#!/bin/bash\nprintf '%s\\0' $(($# + 1)) "\${0##*/}" "$@" >>${folder}/records\n`;
  for (const name of ['a', 'b', 'npm']) writeFileSync(join(folder, name), program, { mode: 0o755 });
  const lines = [
    `npm  run 'a  b' "c'd"'"' x=1 --f=g ''`,
    'a && b;npm %1',
    `a 'x;y' | b "&&"`,
    `a '$x' '\`b\`' '\\' '*' '~'`,
  ];
  for (const line of lines) {
    writeFileSync(join(folder, 'records'), '0\0');
    execFileSync('/bin/bash', ['--norc', '--noprofile', '-c', line], { cwd: folder, env: { PATH: folder } });
    const [recorded = []] = parseRecords(readFileSync(join(folder, 'records'), 'latin1').split('\0'));
    expect(texts([recorded])).toEqual(texts([[...(plainCommands(line) ?? [])]]));
  }
});
