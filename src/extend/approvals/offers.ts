import { BUILTIN_TOOL_NAMES } from '../../agent/tools/builtin-tools.ts';
import type { ApprovalOption } from '../../protocol/generated/vocabulary.ts';
import { type CallFacts, isOrdinary } from './call-facts.ts';
import { isTrustedCommand, type ProgramCheck } from './match-rule.ts';
import { type Argv, plainCommands } from './plain-commands.ts';
import { commandRuleText, hostRuleText, pathRuleText, prefixRuleText } from './rule-text.ts';

// Longer rules cannot be read on a button.
const MAX_OFFERED_RULE_CHARACTERS = 200;

// Commands of one line that can be saved; the options for more would fill a phone.
const MAX_OFFERED_RULES = 4;

/** The facts that decide which options a question has. */
export interface OfferContext {
  readonly facts: CallFacts;
  /** The real path of the session's folder. */
  readonly cwd: string;
  /** The rule that requires the question: a saved approval would not change it. */
  readonly askedBy?: string | undefined;
  /** Whether the subject is too long to be shown whole. */
  readonly isCut: boolean;
  readonly isTrustedProgram: ProgramCheck;
}

/** The options of a question. What the user cannot see or keep is not offered for longer than once. */
export function optionsFor(question: OfferContext): ApprovalOption[] {
  if (question.isCut) return [ALLOW_ONCE, DENY];
  const session = canLast(question) ? [ALLOW_FOR_SESSION] : [];
  return [ALLOW_ONCE, ...session, ...alwaysOptions(question), DENY, DENY_AND_STOP];
}

const ALLOW_ONCE: ApprovalOption = { optionId: 'allow-once', name: 'Allow once', kind: 'allow_once' };
const ALLOW_FOR_SESSION: ApprovalOption = {
  optionId: 'allow-session',
  name: 'Allow for this session',
  kind: 'allow_session',
};
const DENY: ApprovalOption = { optionId: 'deny', name: 'Deny', kind: 'reject_once' };
const DENY_AND_STOP: ApprovalOption = { optionId: 'deny-stop', name: 'Deny and stop', kind: 'reject_stop' };

/** Whether an approval for the session would have an effect, and the user can see which. */
function canLast({ facts: { subject, source }, cwd, isTrustedProgram }: OfferContext): boolean {
  if (source !== 'builtin' || subject.type !== 'command') return true;
  const commands = plainCommands(subject.command, cwd);
  if (!commands) return !subject.outside;
  // Most programs run files that the model may change meanwhile.
  const mayLast = (argv: Argv) => !subject.outside || SAVED_OUTSIDE.has(argv[0] ?? '');
  return commands.every((argv) => isTrustedCommand(argv, isTrustedProgram) && mayLast(argv));
}

interface Offer {
  readonly rule: string;
  /** The allowed calls in words. */
  readonly scope: string;
}

function alwaysOptions(question: OfferContext): ApprovalOption[] {
  if (question.askedBy !== undefined) return [];
  const { offers, isWhole } = offersFor(question);
  // A rule for a part of the line: the rest runs, too, but only this time.
  const prefix = isWhole ? 'Always allow: ' : 'Allow once, and always allow: ';
  return offers
    .filter(({ rule }) => rule.length <= MAX_OFFERED_RULE_CHARACTERS)
    .slice(0, MAX_OFFERED_RULES)
    .map(({ rule, scope }, index) => ({
      optionId: `allow-always-${index + 1}`,
      name: prefix + scope,
      kind: 'allow_always',
      rule,
    }));
}

function offersFor(question: OfferContext): { offers: Offer[]; isWhole: boolean } {
  const { facts, cwd } = question;
  const { subject, source, toolName } = facts;
  const whole = (rule: string, scope: string) => ({ offers: [{ rule, scope }], isWhole: true });
  if (subject.type === 'host') return whole(hostRuleText(subject.host), subject.host);
  if (source === 'builtin' && subject.type === 'command') return commandOffers(question, subject);
  if (source === 'builtin' && subject.type === 'write') {
    const inside = subject.path.startsWith(`${cwd}/`) ? subject.path.slice(cwd.length + 1) : '';
    return inside === '' || !isOrdinary(subject) || !/^[!-~]([ -~]*[!-~])?$/.test(inside)
      ? NOTHING
      : whole(pathRuleText('edit', inside), `edits of ${inside}`);
  }
  const isNamed = source !== 'builtin' && /^[\w.-]+$/.test(toolName) && !BUILTIN_TOOL_NAMES.includes(toolName);
  return isNamed ? whole(toolName, toolName) : NOTHING;
}

const NOTHING = { offers: [], isWhole: true };

/** Offers a rule for each command: a rule for the whole line would match nothing else. */
function commandOffers({ cwd, isTrustedProgram }: OfferContext, subject: { command: string; outside: boolean }) {
  const commands = plainCommands(subject.command, cwd);
  if (!commands) return NOTHING;
  const offers = commands
    .filter((argv) => isTrustedCommand(argv, isTrustedProgram))
    .flatMap((argv) => commandOffer(argv, subject.outside) ?? []);
  const unique = [...new Map(offers.map((offer) => [offer.rule, offer])).values()];
  return { offers: unique, isWhole: unique.length === 1 && offers.length === commands.length };
}

function commandOffer(argv: Argv, outside: boolean): Offer | undefined {
  const [program = '', subcommand = ''] = argv;
  if (!canBeSaved(argv) || (outside && !SAVED_OUTSIDE.has(program))) return undefined;
  const isOpen =
    !outside && Object.hasOwn(OPEN_SUBCOMMANDS, program) && OPEN_SUBCOMMANDS[program]?.includes(subcommand);
  const rule = isOpen ? prefixRuleText([program, subcommand], outside) : commandRuleText(argv, outside);
  return { rule, scope: rule.slice(rule.indexOf('(') + 1, -1) };
}

function canBeSaved([program = '', subcommand, target]: Argv): boolean {
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (NEVER_SAVED.has(name.replace(/[\d.]+$/, ''))) return false;
  if (!HAS_SUBCOMMANDS.has(name)) return true;
  if (subcommand === 'run' && (target === undefined || target.startsWith('-'))) return false;
  // Options before the subcommand may change what it runs.
  return subcommand !== undefined && !subcommand.startsWith('-') && !RUNS_ANYTHING.has(subcommand);
}

/** Programs that do whatever a file or a word tells them, reach other machines or destroy: each call is a question. */
const NEVER_SAVED = new Set(
  `sh bash dash ash zsh fish ksh csh tcsh pwsh busybox python pypy node nodejs deno bun bunx ruby irb perl php lua luajit
  tclsh expect osascript Rscript julia java awk gawk mawk nawk sed ed ex vi vim nvim emacs
  env sudo doas su xargs parallel find fd nohup setsid timeout nice ionice stdbuf watch strace ltrace gdb script
  chroot unshare nsenter bwrap systemd-run at batch crontab tmux screen npx pnpx uvx pipx
  ssh scp sftp rsync curl wget nc ncat socat telnet docker podman kubectl
  rm rmdir unlink dd shred truncate chmod chown chgrp mkfs mount umount kill killall pkill reboot shutdown`.split(
    /\s+/,
  ),
);

const HAS_SUBCOMMANDS = new Set(['git', 'gh', 'glab', 'npm', 'pnpm', 'yarn', 'cargo', 'go', 'uv', 'pip']);

const RUNS_ANYTHING = new Set(['exec', 'x', 'dlx', 'alias', 'api', 'extension', 'config', 'filter-branch']);

/** Subcommands that read only, or run the project's own code whatever their words are. */
const OPEN_SUBCOMMANDS: Readonly<Record<string, readonly string[]>> = {
  git: ['status', 'ls-files', 'rev-parse'],
  cargo: ['build', 'check', 'clippy', 'test'],
  go: ['build', 'test', 'vet'],
};

/** Programs for work on the network that need the user's keys. All others would run files of the workspace. */
const SAVED_OUTSIDE = new Set(['git', 'gh', 'glab']);
