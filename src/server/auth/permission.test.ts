import { expect, it } from 'vitest';
import { commandRows } from '../../protocol/generated/command-rows.ts';
import type { CommandName } from '../../protocol/generated/vocabulary.ts';
import { type Grant, scopes } from './grant.ts';
import { owner } from './owner.ts';
import { permissionDenied, permits } from './permission.ts';

const names = Object.keys(commandRows) as CommandName[];
const grantWith = (...allowed: readonly (typeof scopes)[number][]): Grant => ({ ...owner, scopes: new Set(allowed) });

it.each(scopes)('[A10] the scope %s permits the commands of its rows and no others', (scope) => {
  const grant = grantWith(scope);

  for (const name of names) expect([name, permits(grant, name)]).toEqual([name, commandRows[name].scope === scope]);
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
  const { code, message } = permissionDenied('bash');

  expect({ code, message }).toEqual({
    code: 'permission_denied',
    message: 'Permission denied: bash needs the scope bash',
  });
  expect(permissionDenied('host_tool_result').message).toBe(
    'Permission denied: host_tool_result needs the scope prompt',
  );
});
