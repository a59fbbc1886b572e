import type { Accepted, Params, UserMessage } from '../../../protocol/generated/vocabulary.ts';
import { wordsOf } from '../../fields.ts';
import type { LiveSession } from '../state/live-session.ts';
import { asAttachment, imagesOf } from '../state/writing/said-images.ts';
import type { Writing } from '../state/writing/writing.ts';
import { giveBackChange } from './queue.ts';
import { allowed, isSameText } from './sessions/moves.ts';
import { writtenOut } from './written-out.ts';

/** What was written, with its pictures. */
export interface Draft {
  readonly text: string;
  readonly images: NonNullable<Params<'prompt'>['images']>;
}

/** How a message joins a run that is active: it steers it, or waits until it is over. */
export type Manner = 'steer' | 'followUp';

/** Sends a message; answers whether it was taken. */
export const send = (session: LiveSession, draft: Draft, manner: Manner): Promise<boolean> =>
  session.attempt(() => prompt(session, draft, manner));

/** Sends what is written. It leaves the box at once, and is there again when it was refused. */
export async function sendWritten(session: LiveSession, writing: Writing, manner: Manner): Promise<void> {
  const written = writing.take();
  const draft = writtenOut(written);
  const isRefused = await session.isRefused(async () => {
    const { output, queueId } = await prompt(session, draft, manner);
    if (queueId !== undefined) writing.waiting.add({ queueId, text: draft.text, written });
    if (output !== undefined) writing.reply.value = { command: written.text.trim(), text: output };
  });
  if (isRefused) writing.giveBack(written);
}

/** Ends what runs. What was waiting for it to end is the writer's again, as it was being changed. */
export async function stop(session: LiveSession, writing: Writing): Promise<void> {
  const change = writing.change.value;
  writing.change.value = undefined;
  // Both at once, in this order: a command that keeps the queue from being cleared is ended by what follows.
  const cleared = session.attempt(() =>
    writing.waiting.during(async () => {
      const { steering, followUp } = await session.remote.clearQueue();
      const isThere = writing.giveBackAll([...steering, ...followUp], change);
      if (change && !isThere) giveBackChange(session, writing, change);
    }),
  );
  const aborted = session.attempt(() => session.remote.abort());
  await aborted;
  if (!(await cleared)) writing.change.value ??= change;
}

/** What has failed is not asked for again. */
export const cancelRetry = (session: LiveSession): Promise<boolean> =>
  session.attempt(() => session.remote.abortRetry());

/** Asks the last message again, in the place of what came of it. Where it is not taken it is the writer's again. */
export async function tryAgain(session: LiveSession, writing: Writing, question: UserMessage): Promise<void> {
  const images = [...imagesOf(question)];
  let words: string | undefined;
  const isRefused = await session.isRefused(async () => {
    const { messages } = await session.remote.getForkMessages();
    const last = messages.at(-1);
    if (!last || !isSameText(last.text, wordsOf(question.content))) throw new Error('More was said meanwhile');
    const { editorText } = allowed(await session.remote.navigateTree({ targetId: last.entryId }));
    words = editorText ?? last.text;
    await prompt(session, { text: words, images }, 'steer');
  });
  if (isRefused && words !== undefined) writing.giveBack({ text: words, attachments: images.map(asAttachment) });
}

const prompt = ({ remote }: LiveSession, { text, images }: Draft, manner: Manner): Promise<Accepted> =>
  remote.prompt({ message: text, streamingBehavior: manner, ...(images.length > 0 ? { images } : {}) });
