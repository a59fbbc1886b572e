import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { messageOf } from '../../../protocol/errors.ts';

/** Something that was asked for: neither field is there before the answer. */
interface Answer<T> {
  readonly value?: T;
  readonly problem?: string;
}

/** Asks once, when it is first drawn. */
export function useAnswer<T>(ask: () => Promise<T>): ReadonlySignal<Answer<T>> {
  const answer = useSignal<Answer<T>>({});
  useEffect(() => {
    ask().then(
      (value) => {
        answer.value = { value };
      },
      (error: unknown) => {
        answer.value = { problem: messageOf(error) };
      },
    );
  }, []);
  return answer;
}
