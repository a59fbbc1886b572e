import { isIP } from 'node:net';
import { proposedChange } from '../../agent/tools/edit/proposed-change.ts';
import { fileTargetOf } from '../../agent/tools/file-target.ts';
import type {
  Approval,
  ApprovalMode,
  ApprovalOption,
  ExtensionUiResponse,
} from '../../protocol/generated/vocabulary.ts';
import type { Dialog } from '../dialogs.ts';
import { type CallFacts, type CallSource, isOrdinary } from './call-facts.ts';
import type { Decision } from './decide.ts';
import { gitHooks } from './git-hooks.ts';
import type { ProgramCheck } from './match-rule.ts';
import { optionsFor } from './offers.ts';
import { MAX_SHOWN_CHARACTERS, showCommand, showName } from './show-text.ts';

/** A question about a call, before it is shown. */
export interface Question {
  readonly call: {
    readonly toolCallId?: string | undefined;
    readonly toolName: string;
    readonly source: CallSource;
    readonly args: Readonly<Record<string, unknown>>;
  };
  readonly facts: CallFacts;
  readonly decision: Extract<Decision, { kind: 'ask' }>;
  readonly mode: ApprovalMode;
  readonly cwd: string;
  readonly translate: (path: string) => string;
  readonly isConfined: boolean;
  readonly waitMs: number;
  readonly isTrustedProgram: ProgramCheck;
}

export type ApprovalDialog = Extract<Dialog, { method: 'select' }> & { approval: Approval };

/** The option that the user chose, and a message for the model. */
export interface Answer {
  readonly option: ApprovalOption;
  readonly message: string | undefined;
  /** The limit of the client that answered. */
  readonly limit: ApprovalMode | undefined;
}

/** The content of a question. */
interface Shown {
  readonly title: string;
  readonly subject: Approval['subject'];
  /** The subject as plain text, for clients that do not draw the approval. */
  readonly text: string;
  readonly isCut: boolean;
}

/** Builds the dialog of a question. Clients that do not know approvals see a choice. */
export async function questionAbout(question: Question): Promise<ApprovalDialog> {
  const { call, facts, decision, mode, cwd, waitMs, isTrustedProgram } = question;
  const { title, subject, text, isCut } = await shown(question);
  const options = optionsFor({ facts, cwd, askedBy: decision.rule, isCut, isTrustedProgram });
  const description = descriptionOf(question);
  const approval: Approval = {
    kind: decision.about,
    ...(call.toolCallId === undefined ? {} : { toolCallId: call.toolCallId }),
    toolName: call.toolName,
    source: call.source,
    title,
    ...(description === undefined ? {} : { description }),
    subject,
    needs: neededMode(question),
    waitMs,
    why: { mode, ...(decision.rule === undefined ? {} : { rule: decision.rule }) },
    ...(isCut ? { isCut } : {}),
    options,
  };
  return {
    method: 'select',
    title: [title, indented(text), description].filter(Boolean).join('\n\n'),
    options: options.map(({ name }) => name),
    approval,
  };
}

/** The option of a response; without a valid one, that which denies. */
export function answerTo({ approval }: ApprovalDialog, response: ExtensionUiResponse | undefined): Answer {
  const { options } = approval;
  const chosen = options.find(({ optionId, name }) => response?.value === optionId || response?.value === name);
  const option = chosen ?? options.find(({ kind }) => kind === 'reject_once');
  if (!option) throw new Error('A question has no option that denies');
  return { option, message: response?.message, limit: response?.approvalLimit };
}

async function shown(question: Question): Promise<Shown> {
  const { subject } = question.facts;
  switch (subject.type) {
    case 'command':
      return shownCommand(subject, question);
    case 'host':
      return shownHost(subject);
    case 'read':
    case 'write':
      return shownFile(subject, question);
    case 'other':
      return shownTool(question);
  }
}

function shownCommand(
  { command, outside }: { command: string; outside: boolean },
  { cwd, isConfined }: Question,
): Shown {
  const { text, isCut } = showCommand(command);
  // The model may have named the files of the workspace.
  const hooks = outside ? gitHooks(command, cwd).map((path) => showName(path).text) : [];
  return {
    title: outside && isConfined ? 'Run outside the sandbox?' : 'Run this command?',
    subject: { type: 'command', command: text, cwd: showName(cwd).text, ...(hooks.length > 0 ? { hooks } : {}) },
    text: [text, ...(hooks.length > 0 ? [`git may run: ${hooks.join(', ')}`] : [])].join('\n'),
    isCut,
  };
}

function shownHost({ host, port }: { host: string; port: number }): Shown {
  const { text, isCut } = showName(host);
  return {
    title: 'Connect to this host?',
    subject: { type: 'host', host: text, port },
    text: `${isIP(host) === 6 ? `[${text}]` : text}:${port}`,
    isCut,
  };
}

async function shownFile(subject: { type: 'read' | 'write'; path: string }, question: Question): Promise<Shown> {
  const { text: path, isCut: isPathCut } = showName(subject.path);
  if (subject.type === 'read')
    return { title: 'Read this file?', subject: { type: 'tool', input: { path } }, text: path, isCut: isPathCut };
  const diff = await diffOf(question);
  // A change without a preview is approved for one call only.
  const isDiffCut = (diff?.length ?? Infinity) > MAX_SHOWN_CHARACTERS;
  const shownDiff = diff === undefined ? undefined : showCommand(diff).text;
  return {
    title: 'Change this file?',
    subject: { type: 'edit', path, ...(shownDiff === undefined ? {} : { diff: shownDiff }) },
    text: [path, shownDiff].filter(Boolean).join('\n\n'),
    isCut: isPathCut || isDiffCut,
  };
}

async function diffOf({ call, cwd, translate }: Question): Promise<string | undefined> {
  const { toolName, args } = call;
  const target = fileTargetOf({ toolName, args, cwd, translate });
  return target && (await proposedChange(toolName, args, target))?.diff;
}

function shownTool({ call }: Question): Shown {
  const json = JSON.stringify(call.args, null, 2);
  const { text, isCut } = showCommand(json);
  const { text: name } = showName(call.toolName);
  return {
    title: `Call the tool ${name}?`,
    subject: { type: 'tool', input: isCut ? { text } : { ...call.args } },
    text,
    isCut,
  };
}

const RIGHTS: Readonly<Record<CallSource, string | undefined>> = {
  builtin: undefined,
  extension: 'A tool of an extension. It runs with your rights, outside of any sandbox.',
  mcp: 'A tool of an MCP server. The server runs with your rights, outside of any sandbox.',
  host: undefined,
};

function descriptionOf({ call, facts: { subject }, decision }: Question): string | undefined {
  if (decision.isUnreadable) return 'It is not one plain line, so the rule cannot be compared with its commands.';
  const { why } = call.args;
  if (subject.type === 'command' && subject.outside && typeof why === 'string' && why.trim() !== '')
    return `The model gives this reason: ${showName(why).text}`;
  if (subject.type === 'write' && subject.hasOtherNames)
    return 'The file has other names (hard links), which change too.';
  if (subject.type === 'write' && subject.isProtected)
    return 'Programs of yours read this file and may run what it names.';
  if (subject.type === 'write' && !subject.isInWritableRoot) return 'The file lies outside of the workspace.';
  return RIGHTS[call.source];
}

/** The mode in which the call would run without a question. */
function neededMode({ facts: { subject }, isConfined, decision }: Question): ApprovalMode {
  if (decision.rule !== undefined) return 'full';
  if (subject.type === 'write' && isOrdinary(subject)) return 'edit';
  return subject.type === 'command' && !subject.outside && isConfined ? 'auto' : 'full';
}

const indented = (text: string) => text.replaceAll(/^/gm, '  ');
