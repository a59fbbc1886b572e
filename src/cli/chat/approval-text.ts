import type { ApprovalAnswer } from '../../client/ui-requests.ts';
import type { Approval, ApprovalOption, ApprovalSubject } from '../../protocol/generated/vocabulary.ts';
import { visibleText } from '../../system/terminal-text.ts';
import type { InkName, Printer } from './printer.ts';

const keys: Readonly<Record<ApprovalOption['kind'], string>> = {
  allow_once: 'y',
  allow_session: 'a',
  allow_always: 'w',
  reject_once: 'n',
  reject_stop: 's',
};

const synonyms: Readonly<Record<string, string>> = { yes: 'y', no: 'n' };

/** Prints a question about a tool call: what would run, why it needs an answer, and the key of each option. */
export function printApproval(approval: Approval, printer: Printer): void {
  const { title, description, subject, isCut, why, options } = approval;
  printer.heading(oneLine(title));
  if (description) printer.bordered(description, () => 'dim');
  printer.bordered(subjectText(subject), subject.type === 'edit' ? diffInk : () => 'bold');
  const notes = [
    ...contextOf(approval),
    isCut && 'This was too long to be shown whole.',
    `Mode ${why.mode}${why.rule === undefined ? '' : `, rule ${why.rule}`}.`,
    ...keyed(options).map(optionText),
  ];
  for (const note of notes) if (note) printer.note(oneLine(note));
  printer.note(approvalHint(options));
}

/** The answer that a typed line gives; undefined if it is none. Only a denial takes further words: its message. */
export function parseApproval(line: string, options: readonly ApprovalOption[]): ApprovalAnswer | undefined {
  const text = line.trim();
  const exact = options.find(({ name, optionId }) => text === name || text === optionId);
  if (exact) return { optionId: exact.optionId };
  const [, word = '', message] = /^(\S+?),?(?:\s+(.+))?$/s.exec(text) ?? [];
  const key = synonyms[word.toLowerCase()] ?? word.toLowerCase();
  const chosen = keyed(options).find((option, index) => key === option.key || key === String(index + 1))?.option;
  if (!chosen || (message !== undefined && !isDenial(chosen))) return undefined;
  return { optionId: chosen.optionId, ...(message === undefined ? {} : { message }) };
}

/** How to answer. */
export function approvalHint(options: readonly ApprovalOption[]): string {
  const denial = keyed(options).find(({ option, key }) => key !== undefined && isDenial(option))?.key;
  const withWords = denial === undefined ? '' : `; ${denial} and words deny it with a message to the model`;
  return `(a letter or a number${withWords}; Ctrl-C denies it)`;
}

interface KeyedOption {
  readonly option: ApprovalOption;
  /** Undefined for a kind of a newer agent, and for the second option of a kind. */
  readonly key: string | undefined;
}

const keyed = (options: readonly ApprovalOption[]): readonly KeyedOption[] =>
  options.map((option, index) => {
    const isFirst = options.findIndex(({ kind }) => kind === option.kind) === index;
    return { option, key: isFirst && Object.hasOwn(keys, option.kind) ? keys[option.kind] : undefined };
  });

function optionText({ option: { name, rule }, key = ' ' }: KeyedOption, index: number): string {
  return `  ${key}  ${index + 1}. ${name}${rule === undefined ? '' : `  (saves the rule ${rule})`}`;
}

const isDenial = ({ kind }: ApprovalOption) => kind === 'reject_once' || kind === 'reject_stop';

function subjectText(subject: ApprovalSubject): string {
  switch (subject.type) {
    case 'command':
      return subject.command;
    case 'edit':
      return subject.diff ?? subject.path;
    case 'host':
      return `${subject.host}:${subject.port}`;
    case 'tool':
      return JSON.stringify(subject.input, null, 2);
    default:
      // Of a newer agent.
      return JSON.stringify(subject satisfies never, null, 2);
  }
}

function contextOf({ toolName, source, subject }: Approval): (string | undefined)[] {
  const tool = source === 'builtin' ? undefined : `Tool ${toolName} (${source}).`;
  if (subject.type === 'edit') return [tool, subject.diff && `In the file ${subject.path}`];
  if (subject.type !== 'command') return [tool];
  const { cwd, hooks = [] } = subject;
  return [tool, `In ${cwd}`, hooks.length > 0 ? `It runs these hooks: ${hooks.join(', ')}` : undefined];
}

function diffInk(line: string): InkName {
  if (line.startsWith('+')) return 'green';
  return line.startsWith('-') ? 'red' : 'dim';
}

const oneLine = (text: string) => visibleText(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
