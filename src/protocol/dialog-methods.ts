import type { ExtensionUiRequestEvent } from './generated/vocabulary.ts';

/** The methods of `extension_ui_request` that wait for an answer. */
export const dialogMethods = ['select', 'confirm', 'input', 'editor'] as const;

export type DialogMethod = (typeof dialogMethods)[number];

/** Whether what is to be shown waits for an answer. */
export const isDialogMethod = (method: string): method is DialogMethod =>
  (dialogMethods as readonly string[]).includes(method);

/** What is to be shown, to somebody who hears of it so long after it was asked: less time is left to answer. */
export function withRemainingTimeout<R extends ExtensionUiRequestEvent>(request: R, elapsedMs: number): R {
  if (!('timeout' in request) || request.timeout === undefined) return request;
  return { ...request, timeout: Math.max(0, Math.round(request.timeout - elapsedMs)) };
}
