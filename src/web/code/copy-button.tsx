import { useEffect, useRef, useState } from 'preact/hooks';

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

/** Copies a text to the clipboard and returns whether it succeeded. `trigger`: the clicked element, which may be inside a dialog. */
export async function copyText(text: string, trigger?: Element | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyWithSelection(text, trigger?.parentElement ?? document.body);
  }
}

/** Pages from disk or without a secure connection have no clipboard API. */
function copyWithSelection(text: string, container: Element): boolean {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.className = 'off-screen';
  field.value = text;
  // Elements outside an open dialog cannot be selected.
  container.append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}
