import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { messageOf } from '../../../protocol/errors.ts';

// Both fields are missing until the response arrives.
interface RequestState<T> {
  readonly value?: T;
  readonly problem?: string;
}

/** Sends a request once, on the first render, and returns its state. */
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
