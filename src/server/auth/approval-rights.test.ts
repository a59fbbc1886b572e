import { expect, it } from 'vitest';
import { commandRows } from '../../protocol/generated/command-rows.ts';
import { commandParams, frameSchemas } from '../../protocol/generated/inbound.ts';
import { limitOf, withApprovalRights } from './approval-rights.ts';
import { type Grant, type InboundType, owner, permissionDenied, permits } from './grant.ts';

const limited = (
  limit: Grant['limit'],
  ...scopes: Grant['scopes'] extends ReadonlySet<infer S> ? S[] : never
): Grant => ({
  ...owner,
  id: 'limited',
  limit,
  scopes: new Set(scopes),
});

const types = [...Object.keys(commandParams), ...Object.keys(frameSchemas)] as InboundType[];

const takesLimit = (type: InboundType): boolean => {
  const schemas: Readonly<Record<string, object>> = { ...commandParams, ...frameSchemas };
  return JSON.stringify(schemas[type]).includes('"approvalLimit"');
};

it('every command and frame with the parameter approvalLimit carries the limit of its sender', () => {
  for (const type of types) {
    const claimed = { approvalLimit: 'full', mayLoosen: true, other: 1 };
    const sent: object = withApprovalRights(type, claimed, limited('plan', 'view', 'prompt', 'bash', 'admin'));
    expect([type, 'approvalLimit' in sent]).toEqual([type, takesLimit(type)]);
    if (takesLimit(type)) expect(sent).toMatchObject({ approvalLimit: 'plan', other: 1 });
    expect(withApprovalRights(type, claimed, owner)).toEqual({ other: 1 });
  }
});

it('a client with a limit below full may choose no looser mode, whatever its scopes are', () => {
  const mayLoosen = (grant: Grant) => withApprovalRights('set_approval_mode', { mayLoosen: true }, grant).mayLoosen;

  expect(mayLoosen(owner)).toBeUndefined();
  expect(mayLoosen(limited('full', 'admin', 'prompt'))).toBeUndefined();
  expect(mayLoosen(limited('auto', 'admin', 'prompt'))).toBe(false);
  expect(mayLoosen(limited(undefined, 'view', 'prompt', 'bash'))).toBe(false);
});

it('a limit takes commands from a grant and gives none', () => {
  const all = limited('auto', 'view', 'prompt', 'bash', 'admin');
  const names = Object.keys(commandRows) as InboundType[];

  const refused = names.filter((name) => !permits(all, name));
  for (const name of names) expect(permits(limited('auto'), name)).toBe(false);

  expect(refused.sort()).toEqual([
    'bash',
    'edit_queued',
    'login',
    'remove_credential',
    'set_credential',
    'set_mcp_servers',
    'set_trust',
  ]);
  expect(permissionDenied('bash', all).message).toBe('Permission denied: bash needs a token without a limit');
  expect([limitOf(all), limitOf(owner), limitOf(limited('full'))]).toEqual(['auto', undefined, undefined]);
});
