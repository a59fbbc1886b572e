import type { CallFacts, WriteSubject } from '../call-facts.ts';
import type { Policy } from '../decide.ts';
import { Grants } from '../grants.ts';
import { parseRules } from '../rules.ts';

/** The folder of the session in tests of approvals. */
export const CWD = '/srv/app';

/** Rules of a test: all of them must make sense. */
export interface TestRules {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly saved?: readonly string[];
}

function rulesOf(list: 'allow' | 'ask' | 'deny', texts: readonly string[] = []) {
  const { rules, warnings } = parseRules(texts, { list, home: '/home/me' });
  if (warnings.length > 0) throw new Error(warnings.join('\n'));
  return rules;
}

/** A policy in mode `ask` without a sandbox. */
export function policyWith(rules: TestRules = {}, changed: Partial<Policy> = {}): Policy {
  return {
    mode: 'ask',
    rules: { allow: rulesOf('allow', rules.allow), ask: rulesOf('ask', rules.ask), deny: rulesOf('deny', rules.deny) },
    saved: rulesOf('allow', rules.saved),
    grants: new Grants(CWD),
    cwd: CWD,
    isConfined: false,
    isExternal: false,
    isTrustedProgram: () => true,
    ...changed,
  };
}

export const bash = (command: string, outside = false): CallFacts => ({
  toolName: 'bash',
  source: 'builtin',
  subject: { type: 'command', command, outside },
});

export const reading = (path: string, toolName = 'read', requestedPath = path): CallFacts => ({
  toolName,
  source: 'builtin',
  subject: { type: 'read', path, requestedPath },
});

export const writing = (path: string, changed: Partial<WriteSubject> = {}, toolName = 'write'): CallFacts => ({
  toolName,
  source: 'builtin',
  subject: { type: 'write', path, isInWritableRoot: true, isProtected: false, hasOtherNames: false, ...changed },
});

export const connecting = (host: string, port = 443): CallFacts => ({
  toolName: 'bash',
  source: 'builtin',
  subject: { type: 'host', host, port },
});

export const calling = (toolName: string, source: CallFacts['source'] = 'mcp'): CallFacts => ({
  toolName,
  source,
  subject: { type: 'other' },
});
