import { choices } from '../../protocol/generated/choices.ts';
import type {
  Approval,
  ApprovalMode,
  ApprovalOption,
  ExtensionUiRequestEvent,
  ExtensionUiResponse,
} from '../../protocol/generated/vocabulary.ts';
import { isWithinLimit } from '../auth/approval-rights.ts';
import type { AuditedAnswer } from '../sessions.ts';

/** An answer to a question about a tool call. */
export interface JudgedAnswer {
  /** The frame for the agent: a value that is no option of the question denies the call. */
  readonly frame: ExtensionUiResponse;
  readonly answer: AuditedAnswer;
  /** Whether it allows more than the limit of its sender. */
  readonly isBeyondLimit: boolean;
}

/** The question of a dialog about a tool call. Agents other than tau may send any value. */
export function approvalIn(dialog: ExtensionUiRequestEvent): Partial<Approval> | undefined {
  const { approval } = dialog as { approval?: unknown };
  return approval === undefined ? undefined : ((approval ?? {}) as Partial<Approval>);
}

/** Judges an answer by its frame, which carries the limit of its sender. */
export function judgeAnswer(approval: Partial<Approval>, frame: ExtensionUiResponse): JudgedAnswer {
  const chosen = chosenOption(approval, frame);
  const { toolName, kind } = approval;
  const option = chosen?.kind ?? 'reject_once';
  const { value: _value, ...rest } = frame;
  return {
    frame: chosen ? frame : { ...rest, cancelled: true },
    answer: {
      tool: String(toolName).slice(0, MAX_AUDITED_NAME),
      kind: KINDS.find((known) => known === kind) ?? 'unknown',
      option,
    },
    isBeyondLimit: !mayChoose(option, frame.approvalLimit, approval),
  };
}

// Tools of clients may have names of any length.
const MAX_AUDITED_NAME = 200;

const KINDS = ['tool', 'outside', 'path', 'network'] as const satisfies readonly Approval['kind'][];

const OPTION_KINDS: readonly unknown[] = [
  'allow_once',
  'allow_session',
  'allow_always',
  'reject_once',
  'reject_stop',
] satisfies readonly ApprovalOption['kind'][];

/** The option whose id or label the answer names. */
function chosenOption({ options }: Partial<Approval>, { value, cancelled }: ExtensionUiResponse) {
  if (cancelled || value === undefined || !Array.isArray(options)) return undefined;
  const chosen = options.find((option) => option?.optionId === value || option?.name === value);
  return OPTION_KINDS.includes(chosen?.kind) ? chosen : undefined;
}

/** A limited client allows nothing that its own runs could not do, and nothing for good. */
function mayChoose(
  option: ApprovalOption['kind'],
  limit: ApprovalMode | undefined,
  { needs }: Partial<Approval>,
): boolean {
  if (limit === undefined || option === 'reject_once' || option === 'reject_stop') return true;
  const needed = choices.ApprovalMode.find((mode) => mode === needs) ?? 'full';
  return option !== 'allow_always' && isWithinLimit(needed, limit);
}
