import type { ExtensionUiResponse } from '../../../protocol/generated/vocabulary.ts';
import { oneLine } from '../../format.ts';
import type { App } from '../state/app.ts';
import type { LiveSession } from '../state/live-session.ts';

/** A response to one dialog. */
export type DialogResponse = Pick<ExtensionUiResponse, 'value' | 'confirmed' | 'cancelled' | 'message'>;

/** Sends the response to a dialog. */
export const respondToDialog = (session: LiveSession, id: string, response: DialogResponse): void =>
  session.respond({ type: 'extension_ui_response', id, ...response });

/**
 * Shows a notice for each dialog that was resolved elsewhere and drops the text typed for it; returns a function that
 * stops this.
 */
export const announceResolvedDialogs = (session: LiveSession, { dialogDrafts }: App): (() => void) =>
  session.remote.onEvent((event) => {
    if (event.type !== 'extension_ui_resolved') return;
    dialogDrafts.delete(event.id);
    const dialog = session.view.value.dialogs.find(({ id }) => id === event.id);
    if (dialog) session.showNotice(`${resolutionText(event.by)}: ${oneLine(dialog.title, 80)}`);
  });

function resolutionText(by: string | undefined): string {
  if (by === 'timeout') return 'Not answered in time';
  return by === 'client' ? 'Answered elsewhere' : 'No longer open';
}
