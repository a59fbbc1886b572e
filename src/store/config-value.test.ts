import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { escapeValue, resolveValue, valueProblem, variablesIn } from './config-value.ts';
import { tempFolder } from './testing/temp-folder.ts';

const env = { ACME_KEY: 'sk-acme', lower: 'low', EMPTY: '', PATH: process.env['PATH'] };
const braced = (name: string) => `\${${name}}`;
const resolve = (value: string) => resolveValue(value, { env, cwd: tempFolder() });

describe('resolveValue', () => {
  it.each([
    ['sk-ant-123', 'sk-ant-123'],
    ['$ACME_KEY', 'sk-acme'],
    [braced('ACME_KEY'), 'sk-acme'],
    [`Bearer ${braced('ACME_KEY')}/$lower!`, 'Bearer sk-acme/low!'],
    [`${braced('ACME_KEY')}_KEY`, 'sk-acme_KEY'],
    ['ACME_KEY', 'sk-acme'],
    ['NO_SUCH_KEY', 'NO_SUCH_KEY'],
    ['EMPTY', 'EMPTY'],
    ['acme_key', 'acme_key'],
    ['lower', 'lower'],
    ['pa$$word', 'pa$word'],
    ['$$ACME_KEY', '$ACME_KEY'],
    ['$!echo', '!echo'],
    ['costs 5$', 'costs 5$'],
    ['$5 $( $(x) $', '$5 $( $(x) $'],
    [braced(''), braced('')],
    [braced('a b'), braced('a b')],
    ['', ''],
  ])('resolves %j to %j', async (value, resolved) => {
    expect(await resolve(value)).toBe(resolved);
  });

  it.each([
    ['$NO_SUCH_KEY', 'NO_SUCH_KEY'],
    [`$ACME_KEY ${braced('NO_SUCH_KEY')}`, 'NO_SUCH_KEY'],
    ['$EMPTY', 'EMPTY'],
    ['$constructor', 'constructor'],
    [braced('__proto__'), '__proto__'],
  ])('rejects %j and names the missing variable', async (value, name) => {
    const refusal = await resolve(value).catch((error: Error) => error.message);

    expect(refusal).toBe(`The environment variable ${name} is not set`);
  });

  it('returns the output of a command that sees the environment', async () => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, 'key'), 'sk-file\n');

    expect(await resolveValue('!cat key; echo "$ACME_KEY"', { env, cwd })).toBe('sk-file\nsk-acme');
  });

  it('rejects a command that exceeds its timeout', async () => {
    const hanging = resolveValue('!sleep 1000', { env, cwd: tempFolder(), timeoutMs: 50 });

    await expect(hanging).rejects.toThrow('The command `sleep 1000` took longer than 0.05 seconds');
  });
});

describe('variablesIn', () => {
  it.each([
    [`$ONE and ${braced('TWO')}, not $$THREE`, ['ONE', 'TWO']],
    ['ACME_KEY', ['ACME_KEY']],
    ['sk-ant-123', []],
    ['!pass show $HOME', []],
  ])('finds in %j the variables %j', (value, names) => {
    expect(variablesIn(value)).toEqual(names);
  });
});

describe('valueProblem', () => {
  it.each([
    ['$ACME_KEY', undefined],
    ['$ACME_KEY$NO_SUCH_KEY', 'The environment variable NO_SUCH_KEY is not set'],
    ['$EMPTY', 'The environment variable EMPTY is not set'],
    ['NO_SUCH_KEY', undefined],
    ['!exit 1', undefined],
  ])('reports for %j %j', (value, problem) => {
    expect(valueProblem(value, env)).toBe(problem);
  });
});

describe('escapeValue', () => {
  it.each(['plain', '!exit 1', '$ACME_KEY', '$$', '$!', '!$ACME_KEY!', ''])('escapes %j', async (text) => {
    expect(await resolveValue(escapeValue(text), { env, cwd: '/' })).toBe(text);
  });
});
