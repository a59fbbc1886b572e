import { computed, type ReadonlySignal } from '@preact/signals';
import type { LiveSession } from '../../state/live-session.ts';
import { type MessageRow, Rows } from './rows.ts';

/** Returns the rows of a session. They change per message, not per delta. */
export function sessionRows({ view }: LiveSession): ReadonlySignal<readonly MessageRow[]> {
  const rows = new Rows();
  const messages = computed(() => view.value.messages);
  const unconfirmed = computed(() => view.value.unconfirmed);
  const isWhole = computed(() => view.value.earlier === undefined);
  const answer = computed(() => {
    const { provider, model, timestamp } = view.value.streamingMessage ?? {};
    return JSON.stringify([provider, model, timestamp]);
  });
  return computed(() => {
    void [isWhole.value, answer.value];
    const { streamingMessage: streaming, earlier } = view.peek();
    return rows.of({ messages: [...unconfirmed.value, ...messages.value], streamingMessage: streaming, earlier });
  });
}
