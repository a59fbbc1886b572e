import { fileTargetOf } from '../../agent/tools/file-target.ts';
import { resolveToolPath } from '../../agent/tools/tool-path.ts';
import type { CallFacts, CallSource, CallSubject } from './call-facts.ts';
import type { FilePolicy } from './file-policy.ts';

/** A call whose facts decide whether it may run. */
export interface DescribedCall {
  readonly toolName: string;
  readonly source: CallSource;
  readonly args: Readonly<Record<string, unknown>>;
  /** The real path of the session's folder. */
  readonly cwd: string;
  readonly access: FilePolicy;
}

/** Finds out what a call would run or touch. Throws if no file can have its path: the tool would fail too. */
export const factsOf = (call: DescribedCall): CallFacts => ({
  toolName: call.toolName,
  source: call.source,
  subject: call.source === 'builtin' ? builtinSubject(call) : { type: 'other' },
});

function builtinSubject({ toolName, args, cwd, access }: DescribedCall): CallSubject {
  if (toolName === 'bash')
    return { type: 'command', command: String(args['command']), outside: args['outside'] === true };
  const target = fileTargetOf({ toolName, args, cwd, translate: access.translate });
  if (!target) return { type: 'other' };
  const { realPath: path, hasOtherNames } = target;
  // Rules also see the path before links: a link named .env leads to what a rule for .env means.
  const requestedPath = resolveToolPath(cwd, target.path, access.translate);
  if (toolName !== 'write' && toolName !== 'edit') return { type: 'read', path, requestedPath };
  return {
    type: 'write',
    path,
    requestedPath,
    isInWritableRoot: access.isInWritableRoot(path) && !access.isHidden(path),
    isProtected: access.isProtected(path),
    hasOtherNames,
  };
}
