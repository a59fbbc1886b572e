import { useEffect, useRef, useState } from 'preact/hooks';

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

async function copy(text: string, button: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text, button);
  }
}

/** For pages that are given no clipboard: those from disk, and those that do not come over a safe connection. */
function copyBySelection(text: string, button: HTMLElement | null): boolean {
  const field = document.createElement('textarea');
  field.className = 'off-screen';
  field.value = text;
  // Beside the button: what is outside an open dialog cannot be selected.
  (button?.parentElement ?? document.body).append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } finally {
    field.remove();
    button?.focus();
  }
}
