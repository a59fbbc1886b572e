import type { Accepted, ImageContent, Params, UserMessage } from '../../../protocol/generated/vocabulary.ts';
import { oneLine } from '../../format.ts';
import { contentText } from '../../untyped.ts';
import { asAttachment, imagesOf, type TextAttachment } from '../state/draft/attachment.ts';
import type { DraftContent, MessageDraft } from '../state/draft/message-draft.ts';
import type { LiveSession } from '../state/live-session.ts';
import { restoreEdit } from './queue.ts';
import { isSameText, unlessCancelled } from './sessions/clone-and-fork.ts';

/** The text and images of one prompt. */
export interface PromptInput {
  readonly text: string;
  readonly images: NonNullable<Params<'prompt'>['images']>;
}

/** Whether a prompt steers the active run or waits for its end. */
export type StreamingBehavior = 'steer' | 'followUp';

/** Sends a prompt; returns whether the agent accepted it. */
export const send = (session: LiveSession, input: PromptInput, behavior: StreamingBehavior): Promise<boolean> =>
  session.attempt(() => sendPrompt(session, input, behavior));

/** Sends the draft. The box is cleared at once and restored when the agent rejects the prompt. */
export async function sendDraft(session: LiveSession, draft: MessageDraft, behavior: StreamingBehavior): Promise<void> {
  const content = draft.take();
  const input = promptContent(content);
  const wasRejected = await session.wasRejected(async () => {
    const { output, queueId } = await sendPrompt(session, input, behavior);
    if (queueId !== undefined) draft.queued.add({ queueId, text: input.text, content });
    if (output !== undefined) draft.output.value = { command: content.text.trim(), text: output };
  });
  if (wasRejected) draft.restore(content);
}

/** Stops the run and restores queued messages to the draft, with the edit of one that was being edited. */
export async function stop(session: LiveSession, draft: MessageDraft): Promise<void> {
  const edit = draft.queueEdit.value;
  draft.queueEdit.value = undefined;
  // Both are sent at once, in this order: the abort ends a command that keeps the queue from being cleared.
  const cleared = session.attempt(() =>
    draft.queued.withdrawing(async () => {
      const { steering, followUp } = await session.remote.clearQueue();
      const isIncluded = draft.restoreQueued([...steering, ...followUp], edit);
      if (edit && !isIncluded) restoreEdit(session, draft, edit);
    }),
  );
  const aborted = session.attempt(() => session.remote.abort());
  await aborted;
  if (!(await cleared)) draft.queueEdit.value ??= edit;
}

/** Cancels the pending retry of a failed model call. */
export const cancelRetry = (session: LiveSession): Promise<boolean> =>
  session.attempt(() => session.remote.abortRetry());

/** Sends the last prompt again in place of its outcome. A rejected prompt is restored to the draft. */
export async function retryPrompt(session: LiveSession, draft: MessageDraft, message: UserMessage): Promise<void> {
  const images = [...imagesOf(message)];
  let text: string | undefined;
  const wasRejected = await session.wasRejected(async () => {
    const { messages } = await session.remote.getForkMessages();
    const last = messages.at(-1);
    if (!last || !isSameText(last.text, contentText(message.content)))
      throw new Error('The conversation has continued meanwhile');
    const { editorText } = unlessCancelled(await session.remote.navigateTree({ targetId: last.entryId }));
    text = editorText ?? last.text;
    await sendPrompt(session, { text, images }, 'steer');
  });
  if (wasRejected && text !== undefined) draft.restore({ text, attachments: images.map(asAttachment) });
}

const sendPrompt = (
  { remote }: LiveSession,
  { text, images }: PromptInput,
  behavior: StreamingBehavior,
): Promise<Accepted> =>
  remote.prompt({ message: text, streamingBehavior: behavior, ...(images.length > 0 ? { images } : {}) });

/** Builds the prompt: text files follow the message text, each under its name. */
export function promptContent({ text, attachments }: DraftContent): { text: string; images: ImageContent[] } {
  const files = attachments.flatMap((one) => (one.kind === 'text' ? [fencedFile(one)] : []));
  const images = attachments.flatMap((one) => {
    if (one.kind === 'text') return [];
    return [{ type: 'image' as const, data: one.data, mimeType: one.mimeType }];
  });
  return { text: [text.trimEnd(), ...files].filter((part) => part !== '').join('\n\n'), images };
}

// The fence is longer than any run of backticks in the text.
function fencedFile({ name, text }: TextAttachment): string {
  const longest = [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${oneLine(name, 200)}\n${fence}\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${fence}`;
}
