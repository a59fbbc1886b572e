import { useEffect, useRef, useState } from 'preact/hooks';
import { copy } from './copy.ts';

const SHOWN_MS = 1500;

interface CopyButtonProps {
  /** Asked for when it is wanted. */
  readonly text: () => string;
  /** What the button says until it is used. */
  readonly name?: string | undefined;
}

/** Puts a text into the clipboard, and says so. */
export function CopyButton({ text, name = 'Copy' }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<string>();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (outcome === undefined) return undefined;
    const timer = setTimeout(() => setOutcome(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copyIt = async () => setOutcome((await copy(text(), button.current)) ? 'Copied' : 'Not copied');
  return (
    <button ref={button} type="button" class="copy" onClick={() => void copyIt()}>
      {outcome ?? name}
    </button>
  );
}
