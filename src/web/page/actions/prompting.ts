import type { Accepted, Params } from '../../../protocol/generated/vocabulary.ts';
import type { LiveSession } from '../state/live-session.ts';
import type { Writing } from '../state/writing.ts';
import { writtenOut } from './written-out.ts';

/** What was written, with its pictures. */
export interface Draft {
  readonly text: string;
  readonly images: NonNullable<Params<'prompt'>['images']>;
}

/** How a message joins a run that is active: it steers it, or waits until it is over. */
export type Manner = 'steer' | 'followUp';

/** Sends a message. Answers what came of it; undefined when it was refused. */
export async function send(
  session: LiveSession,
  { text, images }: Draft,
  manner: Manner,
): Promise<Accepted | undefined> {
  let accepted: Accepted | undefined;
  await session.attempt(async () => {
    accepted = await session.remote.prompt({
      message: text,
      streamingBehavior: manner,
      ...(images.length > 0 ? { images } : {}),
    });
  });
  return accepted;
}

/** Sends what is written. It leaves the box at once, and is there again when it was refused. */
export async function sendWritten(session: LiveSession, writing: Writing, manner: Manner): Promise<void> {
  const written = writing.take();
  const draft = writtenOut(written);
  writing.remember(draft.text, written);
  const accepted = await send(session, draft, manner);
  if (!accepted) writing.giveBack(written);
  else if (accepted.output !== undefined) writing.reply.value = { command: written.text.trim(), text: accepted.output };
}

/** Ends what runs. What was waiting for it to end is the writer's again. */
export async function stop(session: LiveSession): Promise<void> {
  // Both at once, in this order: a command that keeps the queue from being cleared is ended by what follows.
  const cleared = session.attempt(async () => {
    const { steering, followUp } = await session.remote.clearQueue();
    session.givenBack.value = [...session.givenBack.value, ...steering, ...followUp];
  });
  const aborted = session.attempt(() => session.remote.abort());
  await Promise.all([cleared, aborted]);
}
