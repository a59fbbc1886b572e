import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { approvalFindings, sandboxFinding } from './approvals.ts';

/** An agent folder and a project with these files. */
function foldersWith(files: Readonly<Record<string, string>>) {
  const root = tempFolder();
  const folders = { agentDir: join(root, 'agent'), cwd: join(root, 'project') };
  mkdirSync(folders.agentDir);
  mkdirSync(join(folders.cwd, '.pi'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  return folders;
}

const withoutBubblewrap = { programs: { bwrap: undefined, nsenter: undefined } };

/** A bwrap that cannot make namespaces. */
function refusedBubblewrap() {
  const bwrap = join(tempFolder(), 'bwrap');
  writeFileSync(bwrap, '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n');
  chmodSync(bwrap, 0o755);
  return { programs: { bwrap, nsenter: undefined } };
}

describe.runIf(process.platform === 'linux')('a machine without a sandbox', () => {
  it('is a warning that names the missing program and how to install it', async () => {
    expect(await sandboxFinding(foldersWith({}), { probe: withoutBubblewrap })).toEqual({
      check: 'sandbox',
      status: 'warning',
      message: expect.stringMatching(/bwrap is not installed\. To confine commands, install bubblewrap: apt install/),
    });
  });

  it('is an error where a setting or a flag requires a sandbox', async () => {
    const required = foldersWith({ 'agent/settings.json': '{"sandbox":{"use":"required"}}' });

    expect(await sandboxFinding(required, { probe: withoutBubblewrap })).toMatchObject({ status: 'error' });
    expect(await sandboxFinding(foldersWith({}), { use: 'required', probe: withoutBubblewrap })).toMatchObject({
      status: 'error',
    });
    expect(await sandboxFinding(required, { use: 'auto', probe: withoutBubblewrap })).toMatchObject({
      status: 'warning',
    });
  });

  it('where namespaces are refused, gets the reason of bwrap and the permission that is missing', async () => {
    expect(await sandboxFinding(foldersWith({}), { probe: refusedBubblewrap() })).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(
        /setting up uid map: Permission denied.*To confine commands, allow user namespaces/s,
      ),
    });
  });
});

it('a machine that is declared the sandbox is not probed', async () => {
  const folders = foldersWith({ 'agent/settings.json': '{"sandbox":{"use":"external"}}' });

  expect(await sandboxFinding(folders, { probe: withoutBubblewrap })).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('this machine counts as the sandbox'),
  });
});

describe('approvals', () => {
  it('are fine without files, and with sensible rules', () => {
    const settings = { approvals: { allow: ['bash(npm test)'] }, sandbox: { domains: ['example.com:443'] } };

    expect(approvalFindings(foldersWith({}))).toEqual([
      { check: 'approvals', status: 'ok', message: '0 saved for this folder' },
    ]);
    expect(approvalFindings(foldersWith({ 'agent/settings.json': JSON.stringify(settings) }))).toMatchObject([
      { status: 'ok' },
    ]);
  });

  it('that are malformed are a warning that names the file and quotes nothing from it', () => {
    const folders = foldersWith({ 'agent/approvals.json': '{"hunter2":' });

    const [found, ...others] = approvalFindings(folders);

    expect(others).toEqual([]);
    expect(found).toMatchObject({ check: 'approvals', status: 'warning' });
    expect(found?.message).toContain(join(folders.agentDir, 'approvals.json'));
    expect(found?.message).toContain('it allows nothing');
    expect(found?.message).not.toContain('hunter2');
  });

  it('with rules that make no sense are warnings, one for each', () => {
    const folders = foldersWith({});
    const settings = {
      approvals: { allow: ['bash(npm test && ls)', 'bash(ls)'], ask: ['shell(x)'], deny: ['read(../x)'] },
      sandbox: { domains: ['https://example.com'] },
    };
    writeFileSync(join(folders.agentDir, 'settings.json'), JSON.stringify(settings));
    writeFileSync(join(folders.cwd, '.pi/settings.json'), JSON.stringify({ approvals: { allow: ['bash'] } }));
    writeFileSync(
      join(folders.agentDir, 'approvals.json'),
      JSON.stringify({ [folders.cwd]: [{ rule: 'bash(eval x)' }, { rule: 'bash(npm test)' }] }),
    );

    const messages = approvalFindings(folders).map(({ message }) => message);

    for (const part of [
      'approvals.allow counts in your own settings only',
      'allow rule "bash(npm test && ls)"',
      'allow rule "network(https://example.com)"',
      'ask rule "shell(x)"',
      'deny rule "read(../x)"',
      'Saved: allow rule "bash(eval x)"',
    ]) {
      expect(messages.filter((message) => message.includes(part))).toHaveLength(1);
    }
    expect(messages).toHaveLength(6);
  });
});
