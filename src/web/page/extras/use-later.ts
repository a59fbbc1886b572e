import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** False at first, and true after a moment: what is over by then need not be shown. */
export function useLater(ms: number): boolean {
  const isLater = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      isLater.value = true;
    }, ms);
    return () => clearTimeout(timer);
  }, []);
  return isLater.value;
}
