import type { Approval, ApprovalOption } from '../../../../protocol/generated/vocabulary.ts';
import { ownProperty } from '../../../untyped.ts';
import type { DialogChoice } from '../dialogs/choices.tsx';

// The keys of options; of two options of one kind, only the first has it.
const hotkeys: Readonly<Record<string, string>> = { allow_once: 'y', allow_session: 'a', reject_once: 'n' };

const weights: Readonly<Record<string, string>> = {
  allow_once: 'main',
  reject_once: 'reject',
  reject_stop: 'reject dangerous',
};

const isDenial = ({ kind }: ApprovalOption) => kind.startsWith('reject');

/**
 * The options of an approval as choices, in their order; only denials carry the message. An agent may use other kinds:
 * their options have neither key nor weight. Without options, the texts of the dialog are the options.
 */
export function approvalChoices(
  { options }: Approval,
  texts: readonly string[],
  message: string,
): readonly DialogChoice[] {
  if (options.length === 0) return texts.map((value) => ({ label: value, hotkey: undefined, response: { value } }));
  return options.map((option) => ({
    label: option.name,
    hotkey: options.find(({ kind }) => kind === option.kind) === option ? ownProperty(hotkeys, option.kind) : undefined,
    response: { value: option.optionId, ...(isDenial(option) && message !== '' ? { message } : {}) },
    kind: ownProperty(weights, option.kind),
  }));
}

/** A heading for what a call does; undefined for unknown kinds. */
export function kindText({ kind, subject }: Approval): string | undefined {
  if (kind === 'outside') return 'Runs outside the sandbox';
  if (kind === 'network') return 'Connects to a host';
  if (kind === 'path')
    return subject.type === 'edit' ? 'Changes a protected or outside file' : 'Reads a protected file';
  return ownProperty(subjectTexts, subject.type);
}

const subjectTexts: Readonly<Record<string, string>> = {
  command: 'Runs a command',
  edit: 'Changes a file',
  host: 'Connects to a host',
  tool: 'Calls a tool',
};

/** Names the program that runs a tool which is none of tau's own. */
export const sourceText = ({ source }: Approval): string | undefined => ownProperty(sourceTexts, source);

const sourceTexts: Readonly<Record<string, string>> = {
  extension: 'An extension runs it with your rights, outside the sandbox.',
  mcp: 'An MCP server runs it with your rights, outside the sandbox.',
  host: 'A connected program runs it.',
};
