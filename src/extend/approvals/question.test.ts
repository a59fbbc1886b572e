import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../system/testing/script.ts';
import { questionAbout } from './question.ts';
import { bash } from './testing/policy.ts';

it('a question escapes hidden characters in the names of hooks', async () => {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, '.git'));
  mkdirSync(join(cwd, 'tools'));
  writeFileSync(join(cwd, '.git/config'), '[core]\n\thooksPath = tools\n');
  writeFileSync(join(cwd, 'tools/pre-push\n\n  git status\u001B[2K\u202E'), '');
  const args = { command: 'git push', outside: true };

  const { title, approval } = await questionAbout({
    call: { toolName: 'bash', source: 'builtin', args },
    facts: bash(args.command, true),
    decision: { kind: 'ask', about: 'outside' },
    mode: 'auto',
    cwd,
    translate: (path) => path,
    isConfined: true,
    waitMs: 1,
    isTrustedProgram: () => true,
  });

  const shown = `${cwd}/tools/pre-push\\n\\n  git status\\u{1b}[2K\\u{202e}`;
  expect(title).toContain(`git may run: ${shown}`);
  expect(approval.subject).toMatchObject({ hooks: [shown] });
});
