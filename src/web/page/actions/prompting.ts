import type { Params } from '../../../protocol/generated/vocabulary.ts';
import type { LiveSession } from '../state/live-session.ts';

/** What was written, with its pictures. */
export interface Draft {
  readonly text: string;
  readonly images: NonNullable<Params<'prompt'>['images']>;
}

/** Sends a message. While a run is active it steers it, or waits until it is over. Answers whether it was taken. */
export const send = (session: LiveSession, { text, images }: Draft, manner: 'steer' | 'followUp'): Promise<boolean> =>
  session.attempt(() =>
    session.remote.prompt({
      message: text,
      streamingBehavior: manner,
      ...(images.length > 0 ? { images } : {}),
    }),
  );

/** Ends what runs; answers what was waiting for it to end, in order: it is the writer's again. */
export async function stop(session: LiveSession): Promise<readonly string[]> {
  const { steering, followUp } = await session.remote.clearQueue();
  await session.remote.abort();
  return [...steering, ...followUp];
}
