import type { ExtensionUiResponse } from '../../../protocol/generated/vocabulary.ts';
import { oneLine } from '../../words.ts';
import type { App } from '../state/app.ts';
import type { LiveSession } from '../state/live-session.ts';

/** What can be said to a question. */
export type Reply = Pick<ExtensionUiResponse, 'value' | 'confirmed' | 'cancelled'>;

/** Answers a question. */
export const answerDialog = (session: LiveSession, id: string, reply: Reply): void =>
  session.answer({ type: 'extension_ui_response', id, ...reply });

/**
 * Tells of every question that is over without an answer from here, until the returned function is called. What was
 * written to it is of no use any more.
 */
export const tellOfEnds = (session: LiveSession, { answers }: App): (() => void) =>
  session.remote.onEvent((event) => {
    if (event.type !== 'extension_ui_resolved') return;
    answers.delete(event.id);
    const dialog = session.view.value.dialogs.find(({ id }) => id === event.id);
    if (dialog) session.remark(`${endWords(event.by)}: ${oneLine(dialog.title, 80)}`);
  });

function endWords(by: string | undefined): string {
  if (by === 'timeout') return 'Nobody answered in time';
  return by === 'client' ? 'Answered elsewhere' : 'No longer asked';
}
