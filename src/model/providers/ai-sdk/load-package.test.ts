import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPackage } from './load-package.ts';

/** A folder with these packages, given as files. */
function folderWith(packages: Record<string, Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'packages-'));
  for (const [name, files] of Object.entries(packages)) {
    for (const [file, text] of Object.entries(files)) {
      const path = join(folder, 'node_modules', name, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  }
  return folder;
}

const plain = (name: string, value: string) => ({
  'package.json': JSON.stringify({ name, main: 'main.js' }),
  'main.js': `exports.place = '${value}';`,
});

const modern = (name: string, code: string) => ({
  'package.json': JSON.stringify({ name, type: 'module', exports: { '.': { import: './main.js' } } }),
  'main.js': code,
});

describe('a package', () => {
  it('is taken from the agent folder before the working folder', async () => {
    const agentDir = folderWith({ acme: plain('acme', 'agent') });
    const cwd = folderWith({ acme: plain('acme', 'work'), other: plain('other', 'work') });

    expect(await loadPackage('acme', { agentDir, cwd })).toMatchObject({ place: 'agent' });
    expect(await loadPackage('other', { agentDir, cwd })).toMatchObject({ place: 'work' });
    await expect(loadPackage('other', { agentDir })).rejects.toThrow('not installed');
  });

  it('is finally searched beside tau', async () => {
    expect(await loadPackage('@ai-sdk/openai-compatible', { agentDir: folderWith() })).toHaveProperty(
      'createOpenAICompatible',
    );
  });

  it('may be a pure ES module', async () => {
    const agentDir = folderWith({ '@a/modern': modern('@a/modern', 'export const place = await "here";') });

    expect(await loadPackage('@a/modern', { agentDir })).toMatchObject({ place: 'here' });
  });

  it.each([
    ['@nobody/has-this', '@nobody/has-this'],
    ['@nobody/has-this/part', '@nobody/has-this'],
    ['nobody-has-this/part', 'nobody-has-this'],
  ])('that is missing yields the command to install it: %s', async (name, toInstall) => {
    const agentDir = folderWith();

    await expect(loadPackage(name, { agentDir, cwd: folderWith() })).rejects.toMatchObject({
      code: 'model_error',
      message: `The package ${name} is not installed: npm install --prefix ${agentDir} ${toInstall}`,
    });
  });

  it('is found once it has been installed', async () => {
    const agentDir = folderWith();
    await expect(loadPackage('late', { agentDir })).rejects.toThrow('not installed');
    const folder = join(agentDir, 'node_modules', 'late');
    mkdirSync(folder, { recursive: true });
    for (const [file, text] of Object.entries(plain('late', 'now'))) writeFileSync(join(folder, file), text);

    expect(await loadPackage('late', { agentDir })).toMatchObject({ place: 'now' });
  });

  it.each([
    ['misses what it needs', "import 'not-there';", "Cannot find package 'not-there'"],
    ['throws', "throw new Error('No luck');", 'No luck'],
    ['is no JavaScript', 'export const = 1;', 'Unexpected token'],
  ])('that %s fails, and no other is loaded', async (what, code, messageText) => {
    const name = `broken-${what.length}`;
    const agentDir = folderWith({ [name]: modern(name, code) });
    const loading = loadPackage(name, { agentDir, cwd: folderWith({ [name]: plain(name, 'work') }) });

    await expect(loading).rejects.toMatchObject({ code: 'model_error' });
    await expect(loading).rejects.toThrow(`The package ${name} cannot be loaded: ${messageText}`);
  });
});
