import type { ApprovalMode } from '../../protocol/generated/vocabulary.ts';
import { type CallFacts, isOrdinary } from './call-facts.ts';
import type { Grants } from './grants.ts';
import {
  allowsAnyCommand,
  allowsCall,
  allowsCommand,
  isTrustedCommand,
  type ProgramCheck,
  restrictsCall,
  restrictsCommand,
  restrictsLine,
} from './match-rule.ts';
import { type Argv, literalWords, plainCommands } from './plain-commands.ts';
import type { ApprovalRule } from './rules.ts';

/** The mode, rules and approvals that hold in a session at the moment. */
export interface Policy {
  readonly mode: ApprovalMode;
  readonly rules: {
    readonly allow: readonly ApprovalRule[];
    readonly ask: readonly ApprovalRule[];
    readonly deny: readonly ApprovalRule[];
  };
  /** The approvals that were saved for the project. */
  readonly saved: readonly ApprovalRule[];
  /** The approvals for this session. */
  readonly grants: Grants;
  /** The real path of the session's folder. */
  readonly cwd: string;
  /** Whether bash runs in a sandbox of tau. */
  readonly isConfined: boolean;
  /** Whether this machine is the sandbox. */
  readonly isExternal: boolean;
  readonly isTrustedProgram: ProgramCheck;
}

/** Whether a call may run. `rule`: the text of the rule that decided; absent: the mode or a grant did. */
export type Decision =
  | { readonly kind: 'allow'; readonly rule?: string }
  | { readonly kind: 'deny'; readonly reason: string }
  | {
      readonly kind: 'ask';
      readonly about: 'tool' | 'outside' | 'path' | 'network';
      readonly rule?: string;
      readonly isUnreadable?: boolean;
    };

/** Decides about a call: rules that deny come first, then grants, rules that ask, rules that allow, and the mode. */
export function decide(given: CallFacts, policy: Policy): Decision {
  const facts = ownFacts(given);
  const call = ruledCall(facts, policy);
  const denying = policy.rules.deny.find(call.isDeniedBy);
  if (denying) return { kind: 'deny', reason: deniedByRule(denying.text) };
  if (policy.mode === 'plan' && facts.subject.type === 'write') return { kind: 'deny', reason: DENIED_IN_PLAN_MODE };
  if (call.isGranted) return { kind: 'allow' };
  const about = topicOf(facts);
  const asking = isTodo(facts) ? undefined : policy.rules.ask.find(call.isAskedBy);
  if (asking) return { kind: 'ask', about, rule: asking.text };
  if (call.unreadableBy) return { kind: 'ask', about, rule: call.unreadableBy.text, isUnreadable: true };
  const allowing = call.allowedBy([...policy.rules.allow, ...policy.saved]);
  if (allowing) return { kind: 'allow', rule: allowing.text };
  return runsUnasked(facts, policy) ? { kind: 'allow' } : { kind: 'ask', about };
}

/** The commands and files of other tools are not known, whatever their arguments look like. */
const ownFacts = (facts: CallFacts): CallFacts =>
  facts.source === 'builtin' || facts.subject.type === 'host' ? facts : { ...facts, subject: { type: 'other' } };

/** The error result of a call that the user denied. */
export const deniedByUser = (message = ''): string =>
  `The user did not allow this call${message.trim() === '' ? '' : `: ${message.trim().replace(/\.$/, '')}`}. ${GIVE_UP}`;

/** The error result of a call that needs an approval, if no client can show the question. */
export const DENIED_UNASKED = 'No user is there to allow this call; go on without it.';

/** The error result of a call whose question was closed before it was answered. */
export const DENIED_UNANSWERED = 'The question about this call was not answered; go on without it.';

const DENIED_IN_PLAN_MODE = 'Not allowed in plan mode.';

const GIVE_UP = 'Do not try it another way; say what you need.';

const deniedByRule = (rule: string) => `Not allowed by the rule ${rule}. ${GIVE_UP}`;

/** A call as the rules see it. */
interface RuledCall {
  readonly isDeniedBy: (rule: ApprovalRule) => boolean;
  readonly isGranted: boolean;
  /** Leaves out what has a grant. */
  readonly isAskedBy: (rule: ApprovalRule) => boolean;
  /** The rule that allows the call, or the last part of it. */
  readonly allowedBy: (rules: readonly ApprovalRule[]) => ApprovalRule | undefined;
  /** A rule that denies commands, if the call is a line that cannot be compared with it. */
  readonly unreadableBy?: ApprovalRule | undefined;
}

function ruledCall(facts: CallFacts, policy: Policy): RuledCall {
  const { subject } = facts;
  if (subject.type === 'command') {
    const commands = plainCommands(subject.command, policy.cwd);
    return commands ? plainCall(commands, subject.outside, policy) : unreadableCall(subject, policy);
  }
  const isRestrictedBy = (rule: ApprovalRule) => restrictsCall(rule, facts, policy.cwd);
  return {
    isDeniedBy: isRestrictedBy,
    isGranted: policy.grants.covers(facts),
    isAskedBy: isRestrictedBy,
    allowedBy: (rules) => rules.find((rule) => allowsCall(rule, facts, policy.cwd)),
  };
}

/** Each command of a plain line needs a grant or a rule of its own. */
function plainCall(commands: readonly Argv[], outside: boolean, { grants, isTrustedProgram }: Policy): RuledCall {
  const isTrusted = (argv: Argv) => isTrustedCommand(argv, isTrustedProgram, outside);
  const open = commands.filter((argv) => !grants.coversCommand(argv, outside) || !isTrusted(argv));
  return {
    isDeniedBy: (rule) => commands.some((argv) => restrictsCommand(rule, argv, outside)),
    isGranted: open.length === 0,
    isAskedBy: (rule) => open.some((argv) => restrictsCommand(rule, argv, outside)),
    allowedBy: (rules) => {
      const found = open.map((argv) =>
        isTrusted(argv) ? rules.find((rule) => allowsCommand(rule, argv, outside)) : undefined,
      );
      return found.includes(undefined) ? undefined : found.at(-1);
    },
  };
}

interface Command {
  readonly command: string;
  readonly outside: boolean;
}

function unreadableCall({ command, outside }: Command, { grants, rules }: Policy): RuledCall {
  const words = literalWords(command);
  const isRestrictedBy = (rule: ApprovalRule) => restrictsLine(rule, words, outside);
  return {
    isDeniedBy: isRestrictedBy,
    isGranted: grants.coversLine(command, outside),
    isAskedBy: isRestrictedBy,
    allowedBy: (given) => given.find((rule) => allowsAnyCommand(rule, outside)),
    unreadableBy: rules.deny.find((rule) => rule.type === 'command' && (outside || !rule.outside)),
  };
}

const isTodo = ({ toolName, source }: CallFacts) => source === 'builtin' && toolName === 'todo';

function topicOf({ subject }: CallFacts): 'tool' | 'outside' | 'path' | 'network' {
  if (subject.type === 'host') return 'network';
  if (subject.type === 'command' && subject.outside) return 'outside';
  return subject.type === 'write' && !isOrdinary(subject) ? 'path' : 'tool';
}

/** The table of modes: whether a call that no rule decides runs without a question. */
function runsUnasked(facts: CallFacts, { mode, isConfined, isExternal }: Policy): boolean {
  const { source, subject } = facts;
  // A sandbox in the mode `full` is required: leaving it is a question.
  if (mode === 'full') return !(isConfined && subject.type === 'command' && subject.outside);
  if (isTodo(facts)) return true;
  switch (subject.type) {
    case 'read':
      return true;
    case 'write':
      return (mode === 'edit' || mode === 'auto') && isOrdinary(subject);
    case 'command':
      if (subject.outside) return false;
      // In plan mode the sandbox is read-only; a machine that is the sandbox is not.
      return mode === 'plan' ? isConfined : mode === 'auto' && (isConfined || isExternal);
    case 'host':
      return false;
    case 'other':
      return source === 'host';
  }
}
