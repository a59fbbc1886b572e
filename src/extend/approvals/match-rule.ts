import { isIP } from 'node:net';
import { basename } from 'node:path';
import { BUILTIN_TOOL_NAMES } from '../../agent/tools/builtin-tools.ts';
import { type CallFacts, type CallSubject, isOrdinary, type ReadSubject, type WriteSubject } from './call-facts.ts';
import { type Argv, isHarmlessBuiltin, literalWords } from './plain-commands.ts';
import { type ApprovalRule, type CommandRule, normalHost, type PathRule } from './rules.ts';

/** Finds the program of a name in PATH: false if it lies in a folder that the model can write. */
export type ProgramCheck = (name: string) => boolean;

/** Whether a rule that allows covers this command: every word is equal, and the program is the one that the user knows. */
export function allowsCommand(rule: ApprovalRule, argv: Argv, outside: boolean): boolean {
  if (rule.type !== 'command') return allowsAnyCommand(rule, outside);
  return (rule.outside || !outside) && matchesWords(rule, argv, isEqual);
}

/** Whether a rule allows every command, also in lines that are not plain. */
export const allowsAnyCommand = (rule: ApprovalRule, outside: boolean): boolean =>
  rule.type === 'tool' && (rule.outside || !outside) && rule.covers('bash');

/** Whether bash runs the program of this command from a place that the model cannot write, as far as PATH decides. */
export const isTrustedCommand = ([program = '']: Argv, isTrusted: ProgramCheck, outside = false): boolean =>
  (program.includes('/') && !outside) || isHarmlessBuiltin(program) || isTrusted(program);

/**
 * Whether a rule that asks or denies covers this command: also if the program is called by a path, or by a program that
 * runs others.
 */
export function restrictsCommand(rule: ApprovalRule, argv: Argv, outside: boolean): boolean {
  if (isElsewhere(rule, outside)) return false;
  if (rule.type === 'tool') return rule.covers('bash');
  if (rule.type !== 'command') return false;
  const [program = '', ...words] = argv;
  if (matchesWords(rule, argv, isSameProgram)) return true;
  return LAUNCHERS.has(basename(program)) && restrictsLine(rule, literalWords(words.join(' ')), outside);
}

// Programs that run the command in their arguments.
const LAUNCHERS: ReadonlySet<string> = new Set(
  `bash busybox capsh chroot chrt command dash doas env exec fakeroot find fish flock ionice linux64 nice nohup nsenter
  parallel prlimit runuser script setarch setpriv setsid sg sh stdbuf strace su sudo taskset time timeout unshare watch
  xargs zsh`.split(/\s+/),
);

/** Whether the words of such a rule stand anywhere among the words of a line that is not plain. */
export function restrictsLine(rule: ApprovalRule, words: Argv, outside: boolean): boolean {
  if (isElsewhere(rule, outside)) return false;
  if (rule.type === 'tool') return rule.covers('bash');
  if (rule.type !== 'command') return false;
  const [program] = rule.words;
  if (program === undefined) return true;
  const anywhere = { ...rule, anyMore: true };
  return words.some(
    (word, index) =>
      isSameProgram(word, program, 0) &&
      matchesWords(anywhere, words.slice(index, index + rule.words.length), isSameProgram),
  );
}

/** Whether a rule that allows covers this call, which is no command. The rule must name what is out of the ordinary. */
export function allowsCall(rule: ApprovalRule, { toolName, source, subject }: CallFacts, project: string): boolean {
  if (subject.type === 'host')
    return matchesHost(rule, subject) && (isIP(normalHost(subject.host)) === 0 || isExactHost(rule));
  if (source !== 'builtin' && BUILTIN_TOOL_NAMES.includes(toolName)) return false;
  if (rule.type === 'tool') return rule.covers(toolName) && (subject.type !== 'write' || isOrdinary(subject));
  if (rule.type !== 'path' || !isFile(subject) || !rule.covers(toolName)) return false;
  if (subject.type === 'write') {
    if (subject.hasOtherNames || (subject.isProtected && !rule.namesProtected)) return false;
  }
  return matchesPath(rule, subject.path, project);
}

/** Whether a rule that asks or denies covers this call, which is no command. */
export function restrictsCall(rule: ApprovalRule, { toolName, subject }: CallFacts, project: string): boolean {
  if (subject.type === 'host') return matchesHost(rule, subject);
  if (rule.type === 'tool') return !rule.outside && rule.covers(toolName);
  if (rule.type !== 'path' || !isFile(subject)) return false;
  return restrictsTool(rule, toolName) && pathsOf(subject).some((path) => matchesPath(rule, path, project));
}

/** Whether a rule that denies covers a file that a tool came upon, by its real path. */
export const restrictsPath = (rule: ApprovalRule, file: { toolName: string; path: string }, project: string): boolean =>
  rule.type === 'path' && restrictsTool(rule, file.toolName) && matchesPath(rule, file.path, project);

/** A file that must not be read must not be changed either: a change shows what was there. */
const restrictsTool = (rule: PathRule, toolName: string): boolean =>
  rule.covers(toolName) || ((toolName === 'edit' || toolName === 'write') && rule.covers('read'));

const isFile = (subject: CallSubject): subject is ReadSubject | WriteSubject =>
  subject.type === 'read' || subject.type === 'write';

const pathsOf = ({ path, requestedPath }: ReadSubject | WriteSubject): string[] =>
  requestedPath === undefined ? [path] : [path, requestedPath];

function matchesPath(rule: PathRule, path: string, project: string): boolean {
  if (rule.isAbsolute) return rule.matches(path);
  const root = project.endsWith('/') ? project : `${project}/`;
  return path.startsWith(root) && rule.matches(path.slice(root.length));
}

const matchesHost = (rule: ApprovalRule, { host, port }: { host: string; port: number }): boolean =>
  rule.type === 'host' && (rule.port ?? port) === port && rule.matches(normalHost(host));

/** An address may lead into the local network: no wildcard allows it. */
const isExactHost = (rule: ApprovalRule): boolean => rule.type === 'host' && rule.isExact;

const isElsewhere = (rule: ApprovalRule, outside: boolean): boolean => 'outside' in rule && rule.outside && !outside;

type WordTest = (word: string, expected: string, index: number) => boolean;

const matchesWords = ({ words, anyMore }: CommandRule, argv: Argv, test: WordTest): boolean =>
  (anyMore ? argv.length >= words.length : argv.length === words.length) &&
  words.every((expected, index) => test(argv[index] ?? '', expected, index));

const isEqual: WordTest = (word, expected) => word === expected;

const isSameProgram: WordTest = (word, expected, index) =>
  word === expected || (index === 0 && !expected.includes('/') && word.endsWith(`/${expected}`));
