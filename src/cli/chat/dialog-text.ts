import { isApprovalRequest, type UiAnswer } from '../../client/ui-requests.ts';
import { type DialogMethod, isDialogMethod } from '../../protocol/dialog-methods.ts';
import type { ExtensionUiRequestEvent } from '../../protocol/generated/vocabulary.ts';
import { approvalHint, parseApproval } from './approval-text.ts';

/** A dialog of an extension, shown and answered as lines of text. */
export type DialogRequest = Extract<ExtensionUiRequestEvent, { method: DialogMethod }>;

/** The answer that the typed lines give, or a hint that more is needed. */
export type ParsedAnswer = { readonly answer: UiAnswer } | { readonly hint: string | undefined };

export const isDialog = (request: ExtensionUiRequestEvent): request is DialogRequest => isDialogMethod(request.method);

/** The text of a dialog and how to answer it. */
export function dialogText(dialog: DialogRequest): string {
  return [dialog.title, ...detailsOf(dialog)].filter(Boolean).join('\n');
}

function detailsOf(dialog: DialogRequest): (string | undefined)[] {
  switch (dialog.method) {
    case 'select': {
      const options = dialog.options.map((option, index) => `  ${index + 1}. ${option}`);
      return [...options, '(a number; an empty line calls it off)'];
    }
    case 'confirm':
      return [dialog.message, '(y or n; an empty line calls it off)'];
    case 'input':
      return [dialog.placeholder && `  ${dialog.placeholder}`, '(an empty line calls it off)'];
    case 'editor':
      return [dialog.prefill, '(lines of text; an empty line or a lone dot ends them)'];
    default:
      return dialog satisfies never;
  }
}

export function parseAnswer(lines: readonly string[], dialog: DialogRequest): ParsedAnswer {
  const line = lines.at(-1) ?? '';
  if (dialog.method === 'editor') return parseLines(lines);
  if (isApprovalRequest(dialog)) {
    const { options } = dialog.approval;
    const answer = parseApproval(line, options);
    return answer ? { answer } : { hint: approvalHint(options) };
  }
  if (line.trim() === '') return { answer: undefined };
  if (dialog.method === 'select') return parseChoice(line.trim(), dialog.options);
  return dialog.method === 'confirm' ? parseYesNo(line.trim()) : { answer: line };
}

function parseChoice(text: string, options: readonly string[]): ParsedAnswer {
  const answer = options.find((option, index) => text === option || text === String(index + 1));
  return answer === undefined ? { hint: `(a number from 1 to ${options.length})` } : { answer };
}

function parseYesNo(text: string): ParsedAnswer {
  if (/^y(?:es)?$/i.test(text)) return { answer: true };
  return /^no?$/i.test(text) ? { answer: false } : { hint: '(y or n)' };
}

function parseLines(lines: readonly string[]): ParsedAnswer {
  const last = lines.at(-1);
  if (last !== '' && last !== '.') return { hint: undefined };
  return { answer: lines.length > 1 ? lines.slice(0, -1).join('\n') : undefined };
}
