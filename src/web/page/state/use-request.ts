import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { messageOf } from '../../../protocol/errors.ts';

/** Something that was asked for: neither field is there before the answer. */
interface RequestState<T> {
  readonly value?: T;
  readonly problem?: string;
}

/** Asks once, when it is first drawn. */
export function useRequest<T>(send: () => Promise<T>): ReadonlySignal<RequestState<T>> {
  const state = useSignal<RequestState<T>>({});
  useEffect(() => {
    send().then(
      (value) => {
        state.value = { value };
      },
      (error: unknown) => {
        state.value = { problem: messageOf(error) };
      },
    );
  }, []);
  return state;
}
