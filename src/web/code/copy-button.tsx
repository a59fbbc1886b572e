import { useEffect, useRef, useState } from 'preact/hooks';
import { copyText } from './copy.ts';

const COPY_OUTCOME_MS = 1500;

interface CopyButtonProps {
  readonly text: () => string;
  // The label before the first click.
  readonly name?: string | undefined;
}

/** A button that copies a text to the clipboard and shows the outcome. */
export function CopyButton({ text, name = 'Copy' }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<string>();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (outcome === undefined) return undefined;
    const timer = setTimeout(() => setOutcome(undefined), COPY_OUTCOME_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const onClick = async () => setOutcome((await copyText(text(), button.current)) ? 'Copied' : 'Not copied');
  return (
    <button ref={button} type="button" class="copy" onClick={() => void onClick()}>
      {outcome ?? name}
    </button>
  );
}
