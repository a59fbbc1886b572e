import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';

// Shorter waits show no number.
const MIN_SHOWN_SECONDS = 5;

/** Counts down to a `performance.now()` time. */
export const SecondsLeft = ({ until }: { readonly until: number }) => (
  <span class="seconds">
    {clock(useSeconds(() => Math.max(0, Math.ceil((until - performance.now()) / 1000)), until))}
  </span>
);

/** Counts the seconds since it was mounted, from `MIN_SHOWN_SECONDS` on. */
export function SecondsElapsed() {
  const since = useMemo(() => performance.now(), []);
  const seconds = useSeconds(() => Math.floor((performance.now() - since) / 1000), since);
  return seconds < MIN_SHOWN_SECONDS ? null : <span class="seconds">{clock(seconds)}</span>;
}

/** Recounts every second, and when `moment` changes. */
function useSeconds(count: () => number, moment: number): number {
  const seconds = useSignal(count());
  useEffect(() => {
    const update = () => {
      seconds.value = count();
    };
    update();
    const timer = setInterval(update, 1000);
    return () => clearInterval(timer);
  }, [moment]);
  return seconds.value;
}

const clock = (seconds: number) =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
