import type { ExtensionUiRequestEvent } from './generated/vocabulary.ts';

/** The methods of `extension_ui_request` that wait for an answer of the user. */
export const dialogMethods = ['select', 'confirm', 'input', 'editor'] as const;

/** A dialog ends after this time without a client that can show it. */
export const ABSENCE_MS = 10 * 60 * 1000;

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
