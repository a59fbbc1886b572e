import { isAtMost } from './approvals/approval-modes.ts';
import type { ExtensionUiRequestEvent, ExtensionUiResponse } from './generated/vocabulary.ts';

/** The methods of `extension_ui_request` that wait for an answer of the user. */
export const dialogMethods = ['select', 'confirm', 'input', 'editor'] as const;

/** A dialog ends after this time without a client that can show it. */
export const ABSENCE_MS = 10 * 60 * 1000;

/** How long a dialog waits while no client can show it. */
export function absenceOf(request: ExtensionUiRequestEvent): number {
  const waitMs = 'approval' in request ? request.approval?.waitMs : undefined;
  // An agent of another version may send any value.
  return typeof waitMs === 'number' && waitMs >= 0 ? waitMs : ABSENCE_MS;
}

/** Whether a response counts: a client with a limit may always deny, and allow only what its limit allows. */
export function mayAnswer(
  request: ExtensionUiRequestEvent,
  { approvalLimit, value }: Pick<ExtensionUiResponse, 'approvalLimit' | 'value'>,
): boolean {
  const approval = 'approval' in request ? request.approval : undefined;
  if (approvalLimit === undefined || approval === undefined || isAtMost(approval.needs ?? 'full', approvalLimit))
    return true;
  const chosen = approval.options.find(({ optionId, name }) => value === optionId || value === name);
  return chosen === undefined || chosen.kind === 'reject_once' || chosen.kind === 'reject_stop';
}

export type DialogMethod = (typeof dialogMethods)[number];

export const isDialogMethod = (method: string): method is DialogMethod =>
  (dialogMethods as readonly string[]).includes(method);

/** The slot that a status, widget or title fills until it is replaced; `clears`: the request empties the slot. */
export function stickySlot(request: ExtensionUiRequestEvent): { key?: string; clears?: boolean } {
  if (request.method === 'setStatus')
    return { key: `status ${request.statusKey}`, clears: request.statusText === undefined };
  if (request.method === 'setWidget')
    return { key: `widget ${request.widgetKey}`, clears: request.widgetLines === undefined };
  return request.method === 'setTitle' ? { key: 'title' } : {};
}

/** The request that empties the slot of another one; undefined for titles, which can only be replaced. */
export function clearingRequest(request: ExtensionUiRequestEvent, id: string): ExtensionUiRequestEvent | undefined {
  const { type, method } = request;
  if (method === 'setStatus') return { type, id, method, statusKey: request.statusKey };
  return method === 'setWidget' ? { type, id, method, widgetKey: request.widgetKey } : undefined;
}

/** Returns the request with the time that is left `elapsedMs` after it was first sent. */
export function withRemainingTimeout<R extends ExtensionUiRequestEvent>(request: R, elapsedMs: number): R {
  if (!('timeout' in request) || request.timeout === undefined) return request;
  return { ...request, timeout: Math.max(0, Math.round(request.timeout - elapsedMs)) };
}
