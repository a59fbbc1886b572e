import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import { flags } from '../../../src/cli/flags/flags.ts';
import { isFinalCode } from '../../../src/client/remote/reconnection.ts';
import { closeCodes } from '../../../src/protocol/errors.ts';
import { httpLimits } from '../../../src/server/http/listen/limited-server.ts';
import { scopes } from '../../../src/store/tokens/token-record.ts';
import { startServer } from '../../support/server/test-server.ts';

const root = join(import.meta.dirname, '../../..');
const guide = readFileSync(join(root, 'docs/server.md'), 'utf8');

/** The cells of the table under this heading. */
function table(heading: string): string[][] {
  const rows = guide
    .slice(guide.indexOf(`\n${heading}\n`))
    .split(/\n(?=[^|])/)
    .find((part) => part.includes('\n|'));
  return (rows ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.slice(2, -2).split(' | '));
}

/** The numeric constants of the server, by name. */
function namedLimits(): Map<string, number[]> {
  const folder = join(root, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  );
  const limits = new Map<string, number[]>();
  for (const file of files) {
    const constants = readFileSync(join(folder, file), 'utf8').matchAll(
      /^(?:export )?const ([A-Z_]+) = ([\d_ *]+);$/gm,
    );
    for (const [, name = '', product = ''] of constants) {
      const value = product.split('*').reduce((all, factor) => all * Number(factor.replaceAll('_', '')), 1);
      limits.set(name, [...(limits.get(name) ?? []), value]);
    }
  }
  return limits;
}

const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  s: 1000,
  min: 60_000,
  d: 86_400_000,
};

it('the guide lists the limits of the server', () => {
  const rows = table('## Limits');
  const limits = namedLimits();

  expect(rows.length).toBeGreaterThan(20);
  for (const [description = '', value = '', , constant = ''] of rows) {
    const [, amount, unit = ''] = /^(\d+) ?(\w*)/.exec(value) ?? [];
    expect([description, ...(limits.get(constant.replaceAll('`', '')) ?? [])]).toContain(
      Number(amount) * (UNITS[unit] ?? 1),
    );
  }
  const { total, perAddress, withoutRequest: unasked } = httpLimits.connections;
  expect(guide).toContain(`${total} in all, ${perAddress} from one address, ${unasked} that have sent no request yet`);
  expect(guide).toContain(`within ${httpLimits.requestMs / 1000} s`);
});

it('the guide lists the close codes, and whether a client reconnects', () => {
  const rows = table('### How it ends').map(([code = '', , back = '']) => [Number(code), back === 'no'] as const);

  expect(rows.map(([code]) => code)).toEqual(Object.values(closeCodes));
  for (const [code, final] of rows) expect([code, isFinalCode(code)]).toEqual([code, final]);
});

it('the guide lists every scope and every metric', async () => {
  const server = await startServer();
  await (await server.attach()).run('say hello');
  await server.get('metrics');

  const counted = (await (await server.get('metrics')).text()).matchAll(/^# TYPE (\w+)/gm);

  expect(table('### Tokens').map(([name]) => name)).toEqual(scopes.map((scope) => `\`${scope}\``));
  for (const [, name] of counted) expect(guide).toContain(`\`${name}\``);
});

it('the guide lists every query parameter, and uses only existing flags and commands', () => {
  const source = readFileSync(join(root, 'src/server/gateway/connect-parameters.ts'), 'utf8');
  const queries = table('## Connect').flatMap(([names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  const used = [...guide.matchAll(/(?<=[\s`'])--([a-z][a-z-]+)/g)].map(([, name]) => name);
  const called = [...guide.matchAll(/\btau (serve|attach|token|help)\b/g)].map(([, name]) => String(name));

  expect(queries).toEqual([
    'token',
    'session',
    'cwd',
    'new',
    'after',
    'epoch',
    'tail',
    'stream',
    'toolOutput',
    'legacyNames',
    'entries',
    'ids',
    'ui',
  ]);
  for (const name of queries.slice(1)) expect(source).toContain(`'${name}'`);
  for (const name of used) expect(Object.keys(flags)).toContain(name);
  for (const name of called) expect(Object.keys(commands)).toContain(name);
  for (const [description, flag] of [
    ['(100)', 'max-sessions'],
    ['(120)', 'park-after'],
    ['(20)', 'drain-seconds'],
  ] as const) {
    expect(guide).toContain(description);
    expect(description).toBe(`(${flags[flag].default})`);
  }
});

it('the HTTP routes of the guide exist', async () => {
  const server = await startServer();

  for (const [paths = ''] of table('## Over HTTP').slice(1)) {
    for (const [, path = ''] of paths.matchAll(/`GET \/([^?`]+)/g))
      expect((await server.get(path)).status, path).toBe(200);
  }
});
