import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentDir, sessionDirFor } from './agent-dir.ts';

describe('agentDir', () => {
  it.each([
    [{ HOME: '/home/ann' }, '/home/ann/.pi/agent'],
    [{}, join(homedir(), '.pi', 'agent')],
    [{ HOME: '/home/ann', PI_CODING_AGENT_DIR: '/opt/agent' }, '/opt/agent'],
    [{ HOME: '/home/ann', PI_CODING_AGENT_DIR: '~/agent' }, '/home/ann/agent'],
    [{ HOME: '/home/ann', PI_CODING_AGENT_DIR: '~' }, '/home/ann'],
    [{ HOME: '/home/ann', PI_CODING_AGENT_DIR: '~bob/agent' }, join(process.cwd(), '~bob/agent')],
    [{ HOME: '/home/ann', PI_CODING_AGENT_DIR: '' }, '/home/ann/.pi/agent'],
  ])('%j is %s', (env, expected) => {
    expect(agentDir(env)).toBe(expected);
  });
});

describe('sessionDirFor', () => {
  it.each([
    ['/srv/shop', '/a/sessions/--srv-shop--'],
    ['/', '/a/sessions/----'],
    ['/srv/a-b c', '/a/sessions/--srv-a-b c--'],
    ['C:\\work\\shop', '/a/sessions/--C--work-shop--'],
  ])('keeps the sessions of %s in %s', (cwd, expected) => {
    expect(sessionDirFor('/a', cwd)).toBe(expected);
  });
});
