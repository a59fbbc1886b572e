import { spawn } from 'node:child_process';
import { rm } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { randomBytes } from '../random-bytes.ts';
import { TAG_VARIABLE } from './process-table.ts';
import { processTag } from './process-tag.ts';

// The guardian reads from its stdin which groups, unfinished files and leftovers exist, and makes FIFOs, until the
// agent's end of the pipe closes. Then it kills the groups, removes the files and unused FIFOs and kills, on Linux,
// every other process with the agent's tag. The leftovers come last: until then a process may write to them. It is
// plain sh: a second Node would cost more than most agents. An agent that dies before it reads a response must not end
// the guardian.
const SCRIPT = `
trap '' PIPE
umask 077
tag=$1 fifo=$2
shift 2
groups= files= leftovers=
newline='
'
without() {
  rest=
  for known in $1; do [ "$known" = "$2" ] || rest="$rest $known"; done
}
is_shared() {
  set +f
  for marker in "\${1%/*}"/hooks/.tau-sandbox-*; do
    [ -e "$marker" ] && set -f && return 0
  done
  set -f
  return 1
}
while read -r word name; do
  case $word in
    fifo)
      index=0
      for folder; do
        mkfifo "$folder/$fifo$name" && break
        index=$((index + 1))
      done
      echo "$name $index" ;;
    +) groups="$groups $name" ;;
    -) without "$groups" "$name"; groups=$rest ;;
    file) files="$files $name" ;;
    keep) without "$files" "$name"; files=$rest ;;
    leave) leftovers="$leftovers$name$newline" ;;
    taken)
      before=\${leftovers%%"$name$newline"*}
      [ "$before" = "$leftovers" ] || leftovers="$before\${leftovers#*"$name$newline"}" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
for file in $files; do rm -f -- "$1/$file"; done
for folder; do rm -f -- "$folder/$fifo"*; done
pass=0
while [ "$pass" -lt 50 ]; do
  found=$(grep -lsaF "$tag" /proc/[0-9]*/environ)
  [ -n "$found" ] || break
  for file in $found; do
    pid=\${file#/proc/}
    kill -9 "\${pid%/environ}"
  done
  pass=$((pass + 1))
done
set -f
IFS=$newline
for entry in $leftovers; do
  path=\${entry#*:}
  path=\${path%|}
  case $entry in
    tree:*) rm -rf -- "$path" || { chmod -R u+rwX -- "$path"; rm -rf -- "$path"; } ;;
    folder:*) is_shared "$path" || rmdir -- "$path" ;;
    stub:*) is_shared "$path" || [ ! -f "$path" ] || case $(cat -- "$path") in '' | .) rm -f -- "$path" ;; esac ;;
  esac
done
`;

const FIFO_TIMEOUT_MS = 5000;

// A guardian that was killed is replaced this many times: one that cannot run must not be started for ever.
const MAX_GUARDIAN_RESTARTS = 10;

const pendingFifos = new Map<number, (path: string | undefined) => void>();
const groups = new Set<number>();
const files = new Set<string>();
const leftovers = new Set<string>();
let pipe: Writable | undefined;
let fifoCount = 0;
let restarts = 0;

/**
 * Starts the process that kills every child of this one when it ends in any way.
 *
 * One guardian runs at a time; one that dies while a child runs is replaced.
 */
export function startGuardian(): void {
  if (pipe) return;
  const folders = fifoFolders();
  const name = `tau-${randomBytes(8).toString('hex')}-`;
  const args = ['-c', SCRIPT, 'tau-guardian', `${TAG_VARIABLE}=${processTag()}:`, name, ...folders];
  const guardian = spawn('/bin/sh', args, {
    cwd: '/',
    detached: true,
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  guardian.on('error', () => {});
  guardian.on('close', () => {
    pipe = undefined;
    for (const [number, settleFifo] of pendingFifos) {
      // The guardian may have made this FIFO before it died.
      for (const folder of folders) removeFile(join(folder, `${name}${number}`));
      settleFifo(undefined);
    }
    if (groups.size + leftovers.size > 0 && restarts++ < MAX_GUARDIAN_RESTARTS) startGuardian();
  });
  guardian.unref();
  // Spawning fails like this when no descriptor is left.
  if (!guardian.stdin) return;
  pipe = guardian.stdin;
  pipe.on('error', () => {});
  (pipe as Socket).unref();
  readResponses(guardian.stdout as Socket, (number, folderIndex) => {
    const folder = folders[folderIndex];
    const path = folder === undefined ? undefined : join(folder, `${name}${number}`);
    const settleFifo = pendingFifos.get(number);
    if (settleFifo) settleFifo(path);
    else if (path) removeFile(path);
  });
  // A second guardian gets the groups and files of the first.
  for (const group of groups) pipe.write(`+ ${group}\n`);
  for (const file of files) pipe.write(`file ${file}\n`);
  for (const leftover of leftovers) pipe.write(`leave ${leftover}\n`);
}

/** Registers a started group. */
export function guardGroup(pid: number): void {
  groups.add(pid);
  pipe?.write(`+ ${pid}\n`);
}

/** Unregisters a group that has ended: its number may be reused. */
export function releaseGroup(pid: number): void {
  groups.delete(pid);
  pipe?.write(`- ${pid}\n`);
}

/** Registers an unfinished file in the temporary folder; its name has no blanks. */
export function guardFile(name: string): void {
  files.add(name);
  pipe?.write(`file ${name}\n`);
}

/** Unregisters a file: it stays. */
export function keepFile(name: string): void {
  files.delete(name);
  pipe?.write(`keep ${name}\n`);
}

/** A path that must not outlive this process: a whole tree, a folder if it is empty, or a file if it is empty or holds `.`. */
export interface Leftover {
  readonly kind: 'tree' | 'folder' | 'stub';
  readonly path: string;
}

/** Registers a path that the guardian removes after the processes have ended. */
export function guardLeftover(leftover: Leftover): void {
  // The guardian reads lines.
  if (leftover.path.includes('\n')) return;
  leftovers.add(leftoverLine(leftover));
  pipe?.write(`leave ${leftoverLine(leftover)}\n`);
}

/** Unregisters a path: it was removed, or stays. */
export function releaseLeftover(leftover: Leftover): void {
  if (leftovers.delete(leftoverLine(leftover))) pipe?.write(`taken ${leftoverLine(leftover)}\n`);
}

// `read` drops blanks at the end of a line.
const leftoverLine = ({ kind, path }: Leftover) => `${kind}:${path}|`;

/** Makes a FIFO for this user only; undefined on failure. The guardian removes it at the latest when this process ends. */
export function makeGuardedFifo(): Promise<string | undefined> {
  startGuardian();
  const number = ++fifoCount;
  return new Promise((settle) => {
    const settleFifo = (path: string | undefined) => {
      clearTimeout(timer);
      pendingFifos.delete(number);
      settle(path);
    };
    const timer = setTimeout(settleFifo, FIFO_TIMEOUT_MS, undefined);
    pendingFifos.set(number, settleFifo);
    if (pipe?.writable) pipe.write(`fifo ${number}\n`);
    else settleFifo(undefined);
  });
}

/** The folders for FIFOs in order of preference: the temporary folder may be missing or read-only. */
export const fifoFolders = (): string[] => [...new Set([resolve(tmpdir()), '/tmp', '/dev/shm'])];

function readResponses(stdout: Socket, onResponse: (number: number, folderIndex: number) => void): void {
  let text = '';
  stdout.setEncoding('utf8');
  stdout.on('data', (chunk: string) => {
    const lines = `${text}${chunk}`.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const [number = 0, folderIndex = 0] = line.split(' ').map(Number);
      onResponse(number, folderIndex);
    }
  });
  stdout.on('error', () => {});
  stdout.unref();
}

const removeFile = (path: string) => rm(path, { force: true }, () => {});
