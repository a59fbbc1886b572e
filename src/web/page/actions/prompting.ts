import type { Accepted, Params, UserMessage } from '../../../protocol/generated/vocabulary.ts';
import { wordsOf } from '../../fields.ts';
import type { LiveSession } from '../state/live-session.ts';
import { asAttachment, imagesOf } from '../state/draft/message-images.ts';
import type { MessageDraft } from '../state/draft/message-draft.ts';
import { restoreEdit } from './queue.ts';
import { unlessCancelled, isSameText } from './sessions/clone-and-fork.ts';
import { promptContent } from './prompt-content.ts';

/** What was written, with its pictures. */
export interface PromptInput {
  readonly text: string;
  readonly images: NonNullable<Params<'prompt'>['images']>;
}

/** How a message joins a run that is active: it steers it, or waits until it is over. */
export type StreamingBehavior = 'steer' | 'followUp';

/** Sends a message; answers whether it was taken. */
export const send = (session: LiveSession, input: PromptInput, behavior: StreamingBehavior): Promise<boolean> =>
  session.attempt(() => sendPrompt(session, input, behavior));

/** Sends what is written. It leaves the box at once, and is there again when it was refused. */
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

/** Ends what runs. What was waiting for it to end is the writer's again, as it was being changed. */
export async function stop(session: LiveSession, draft: MessageDraft): Promise<void> {
  const edit = draft.queueEdit.value;
  draft.queueEdit.value = undefined;
  // Both at once, in this order: a command that keeps the queue from being cleared is ended by what follows.
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

/** What has failed is not asked for again. */
export const cancelRetry = (session: LiveSession): Promise<boolean> =>
  session.attempt(() => session.remote.abortRetry());

/** Asks the last message again, in the place of what came of it. Where it is not taken it is the writer's again. */
export async function retryPrompt(session: LiveSession, draft: MessageDraft, message: UserMessage): Promise<void> {
  const images = [...imagesOf(message)];
  let text: string | undefined;
  const wasRejected = await session.wasRejected(async () => {
    const { messages } = await session.remote.getForkMessages();
    const last = messages.at(-1);
    if (!last || !isSameText(last.text, wordsOf(message.content))) throw new Error('More was said meanwhile');
    const { editorText } = unlessCancelled(await session.remote.navigateTree({ targetId: last.entryId }));
    text = editorText ?? last.text;
    await sendPrompt(session, { text, images }, 'steer');
  });
  if (wasRejected && text !== undefined) draft.restore({ text, attachments: images.map(asAttachment) });
}

const sendPrompt = ({ remote }: LiveSession, { text, images }: PromptInput, behavior: StreamingBehavior): Promise<Accepted> =>
  remote.prompt({ message: text, streamingBehavior: behavior, ...(images.length > 0 ? { images } : {}) });
