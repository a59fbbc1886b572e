import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandRows } from '../../protocol/generated/command-rows.ts';
import type { CommandName } from '../../protocol/generated/vocabulary.ts';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { type Grant, mayOpen, owner, permissionDenied, permits, scopes } from './grant.ts';

const limitedTo = (...allowedPaths: string[]): Grant => ({ ...owner, allowedPaths });

it('[A7] only paths that lead into the allowed folders may be opened, whether they exist or not', () => {
  const base = tempFolder();
  for (const name of ['abc/inner', 'abc-evil', 'other']) mkdirSync(join(base, name), { recursive: true });
  symlinkSync(join(base, 'other'), join(base, 'abc/out'));
  symlinkSync('../other/not-yet', join(base, 'abc/dangling'));
  symlinkSync(join(base, 'abc'), join(base, 'alias'));
  symlinkSync('loop', join(base, 'abc/loop'));
  const grant = limitedTo(join(base, 'abc'));
  const open = (path: string) => mayOpen(grant, `${base}/${path}`);

  const inside = ['abc', 'abc/inner/new/file', 'alias/inner', 'abc/inner/../..x', 'other/../abc/inner', 'abc/..file'];
  const outside = [
    'abc-evil',
    'abc-evil/new',
    '',
    'abc/..',
    'abc/inner/../../other',
    'abc/out/file',
    'abc/out/../abc-evil',
    'abc/dangling',
    'abc/loop/file',
    'abc/in\0ner',
  ];

  expect(inside.filter((path) => !open(path))).toEqual([]);
  expect(outside.filter(open)).toEqual([]);
});

it('[A7] a grant may allow several folders, all or none; an allowed folder may be created later', () => {
  const base = tempFolder();
  const grant = limitedTo(join(base, 'a'), join(base, 'b'));

  const before = mayOpen(grant, join(base, 'b/file'));
  mkdirSync(join(base, 'target'));
  symlinkSync('target', join(base, 'b'));

  expect([before, mayOpen(grant, join(base, 'b/file')), mayOpen(grant, join(base, 'c'))]).toEqual([true, true, false]);
  expect(mayOpen(owner, '/anywhere/at/all')).toBe(true);
  expect(mayOpen(limitedTo(), base)).toBe(false);
  expect(mayOpen(limitedTo('/'), base)).toBe(true);
});

const names = Object.keys(commandRows) as CommandName[];
const grantWith = (...allowed: readonly (typeof scopes)[number][]): Grant => ({ ...owner, scopes: new Set(allowed) });

it.each(scopes)('[A10] the scope %s permits the commands of its rows and no others', (scope) => {
  const grant = grantWith(scope);

  for (const name of names) {
    const { scope: needed, returnsContent = false } = commandRows[name];
    expect([name, permits(grant, name)]).toEqual([name, needed === scope && !returnsContent]);
  }
});

it('[A26] a command that returns parts of the conversation needs the scope view, too', () => {
  const withContent = names.filter((name) => commandRows[name].returnsContent);

  expect(withContent).toContain('export_html');
  for (const name of withContent) {
    expect([name, permits(grantWith('prompt', 'bash', 'admin'), name)]).toEqual([name, false]);
    expect([name, permits(grantWith('prompt', 'view'), name)]).toEqual([name, true]);
  }
  expect(permissionDenied('export_html', owner).message).toBe(
    'Permission denied: export_html needs the scopes prompt and view',
  );
});

it('[A10] no scope permits nothing, and all scopes permit everything', () => {
  for (const name of names) {
    expect(permits(grantWith(), name)).toBe(false);
    expect(permits(owner, name)).toBe(true);
  }
});

it('[A10] dialog responses and host tool results need the scope prompt', () => {
  for (const frame of ['extension_ui_response', 'host_tool_update', 'host_tool_result'] as const) {
    expect(permits(grantWith('prompt'), frame)).toBe(true);
    expect(permits(grantWith('view', 'bash', 'admin'), frame)).toBe(false);
  }
});

it('a refusal names the missing scope', () => {
  const { code, message } = permissionDenied('bash', owner);

  expect({ code, message }).toEqual({
    code: 'permission_denied',
    message: 'Permission denied: bash needs the scope bash',
  });
  expect(permissionDenied('host_tool_result', owner).message).toBe(
    'Permission denied: host_tool_result needs the scope prompt',
  );
});
