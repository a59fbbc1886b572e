import type { Approval, ApprovalMode, ApprovalOption } from '../../../src/protocol/generated/vocabulary.ts';
import type { Peer, WireRecord } from '../clients/peer.ts';
import { toolCallStep, toolEnds } from '../tools/host-tools.ts';

/** Flags for an approval mode without a sandbox. */
export const approvalFlags = (mode: ApprovalMode): string[] => ['--approvals', mode, '--sandbox', 'off'];

/** A dialog about a tool call. */
export interface Question extends WireRecord {
  id: string;
  title: string;
  options: string[];
  approval: Approval;
}

const isQuestion = (record: WireRecord): record is Question =>
  record.type === 'extension_ui_request' && record['approval'] !== undefined;

/** Returns the next question; with `toolCallId` the first one about that call. */
export const nextQuestion = (peer: Peer, toolCallId?: string): Promise<Question> =>
  toolCallId === undefined
    ? peer.next(isQuestion)
    : (peer.find((record) => isQuestion(record) && record.approval.toolCallId === toolCallId) as Promise<Question>);

/** All questions that a client got, in order. */
export const allQuestions = ({ records }: Pick<Peer, 'records'>): Question[] => records.filter(isQuestion);

/** Answers a question with its first option of this kind. */
export function answer(
  client: { readonly send: (frame: object) => void },
  { id, approval }: Question,
  kind: ApprovalOption['kind'],
  more: object = {},
): void {
  const option = approval.options.find((one) => one.kind === kind);
  if (!option) throw new Error(`The question has no option ${kind}`);
  client.send({ type: 'extension_ui_response', id, value: option.optionId, ...more });
}

/** A response of the model that calls bash with each of these commands, in parallel; the calls are c0, c1 and so on. */
export const bashTurn = (...commands: readonly string[]) => ({
  steps: commands.map((command, index) => toolCallStep('bash', { command }, `c${index}`)),
});

/** Waits until a call has ended or a question about it is open. */
export async function callOutcome(peer: Peer, toolCallId: string): Promise<'ran' | 'denied' | 'questioned'> {
  const record = await peer.find(
    (one) =>
      (one.type === 'tool_execution_end' && one['toolCallId'] === toolCallId) ||
      (isQuestion(one) && one.approval.toolCallId === toolCallId),
  );
  if (isQuestion(record)) return 'questioned';
  const [end] = toolEnds([record]);
  return (end?.details as { denied?: boolean } | undefined)?.denied === true ? 'denied' : 'ran';
}

/** Runs a turn of bash calls, returns the outcome of each command, and aborts the run. */
export async function commandOutcomes(peer: Peer, commands: readonly string[]): Promise<Record<string, string>> {
  const { runId } = await peer.ok({ type: 'prompt', message: 'go' });
  const outcomes = await Promise.all(commands.map((_command, index) => callOutcome(peer, `c${index}`)));
  await peer.ok({ type: 'abort' });
  await peer.find((record) => record.type === 'agent_settled' && record['runId'] === runId);
  return Object.fromEntries(commands.map((command, index) => [command, outcomes[index] ?? 'none']));
}

/** The data of the `tau.approval` entries in the lines of a session file. */
export const recordedAnswers = (
  entries: readonly { readonly customType?: string; readonly data?: unknown }[],
): unknown[] => entries.filter(({ customType }) => customType === 'tau.approval').map(({ data }) => data);
