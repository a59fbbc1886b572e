import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

interface SecondsLeftProps {
  /** When it is over, as `performance.now()` counts. */
  readonly until: number;
}

/** How long there is until a moment, as it goes by. */
export function SecondsLeft({ until }: SecondsLeftProps) {
  const seconds = useSignal(secondsTo(until));
  useEffect(() => {
    const look = () => {
      seconds.value = secondsTo(until);
    };
    look();
    const timer = setInterval(look, 1000);
    return () => clearInterval(timer);
  }, [until]);
  return <span class="seconds">{clock(seconds.value)}</span>;
}

const secondsTo = (until: number) => Math.max(0, Math.ceil((until - performance.now()) / 1000));

const clock = (seconds: number) =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
