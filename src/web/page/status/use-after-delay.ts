import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** Returns true after `ms`: shorter states need not be shown. */
export function useAfterDelay(ms: number): boolean {
  const hasElapsed = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      hasElapsed.value = true;
    }, ms);
    return () => clearTimeout(timer);
  }, []);
  return hasElapsed.value;
}
