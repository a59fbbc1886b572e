import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { changeMcpSignIn, readMcpSignIn } from './mcp-sign-ins.ts';

const URL = 'https://example.com/mcp';

it('a change that returns its argument does not write the file', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sign-ins-'));
  const path = join(dir, 'tau-mcp-auth.json');
  // Writing would format it.
  const text = JSON.stringify({ [URL]: { tokens: { access_token: 'a' } } });
  writeFileSync(path, text);

  await changeMcpSignIn(dir, URL, async (before) => before);
  await changeMcpSignIn(dir, 'https://other.example/', async () => undefined);

  expect(readFileSync(path, 'utf8')).toBe(text);
  expect(readMcpSignIn(dir, URL)).toEqual({ tokens: { access_token: 'a' } });
});

it("[N61] pi's mcp-auth.json is neither read nor written", async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sign-ins-'));
  const path = join(dir, 'mcp-auth.json');
  const text = JSON.stringify({ [URL]: { tokens: { access_token: 'of pi' } } });
  writeFileSync(path, text);

  expect(readMcpSignIn(dir, URL)).toBeUndefined();
  await changeMcpSignIn(dir, URL, async () => ({ tokens: { access_token: 'of tau' } }));

  expect(readFileSync(path, 'utf8')).toBe(text);
  expect(readMcpSignIn(dir, URL)).toEqual({ tokens: { access_token: 'of tau' } });
});
