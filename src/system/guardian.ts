import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { MARK } from './process-table.ts';

/**
 * Reads which groups live until the agent's end of the pipe closes, then kills them and, on Linux, whatever else
 * carries the agent's mark. Plain sh: a second Node would cost more than most agents.
 */
const SCRIPT = `
groups=
while read -r sign group; do
  kept=
  for known in $groups; do [ "$known" = "$group" ] || kept="$kept $known"; done
  groups=$kept
  [ "$sign" = + ] && groups="$groups $group"
done
for group in $groups; do kill -s KILL -- "-$group"; done
pass=0
while [ "$pass" -lt 50 ]; do
  found=$(grep -lsaF "$1" /proc/[0-9]*/environ)
  [ -n "$found" ] || break
  for file in $found; do
    pid=\${file#/proc/}
    kill -9 "\${pid%/environ}"
  done
  pass=$((pass + 1))
done
`;

let pipe: Writable | undefined;

/** Has a process of its own see to it that nothing outlives this one, however this one ends. Started once. */
export function startGuardian(agentMark: string): void {
  if (pipe) return;
  const guardian = spawn('/bin/sh', ['-c', SCRIPT, 'tau-guardian', `${MARK}=${agentMark}:`], {
    cwd: '/',
    detached: true,
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guardian.on('error', () => {});
  guardian.unref();
  pipe = guardian.stdin;
  pipe.on('error', () => {});
  (pipe as Writable & { unref?: () => void }).unref?.();
}

/** Tells the guardian of a group that has begun. */
export const guardGroup = (pid: number) => void pipe?.write(`+ ${pid}\n`);

/** Tells the guardian that a group has ended: its number may soon be somebody else's. */
export const releaseGroup = (pid: number) => void pipe?.write(`- ${pid}\n`);
