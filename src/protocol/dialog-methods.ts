import type { ExtensionUiRequestEvent } from './generated/vocabulary.ts';

/** The methods of `extension_ui_request` that wait for an answer of the user. */
export const dialogMethods = ['select', 'confirm', 'input', 'editor'] as const;

export type DialogMethod = (typeof dialogMethods)[number];

export const isDialogMethod = (method: string): method is DialogMethod =>
  (dialogMethods as readonly string[]).includes(method);

/** Returns the request with the time that is left `elapsedMs` after it was first sent. */
export function withRemainingTimeout<R extends ExtensionUiRequestEvent>(request: R, elapsedMs: number): R {
  if (!('timeout' in request) || request.timeout === undefined) return request;
  return { ...request, timeout: Math.max(0, Math.round(request.timeout - elapsedMs)) };
}
