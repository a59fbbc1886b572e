import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { PlainText } from '../code/plain-text.tsx';

/** The beginning of paths that is not shown: a folder with its slash. */
export const HiddenPrefix = createContext('');

interface PathProps {
  readonly path: string;
  // Text after the path, such as line numbers.
  readonly after?: string | undefined;
}

/** A path on one line, without the hidden prefix; if it is too long, the folders are cut first. */
export function Path({ path: given, after = '' }: PathProps) {
  const prefix = useContext(HiddenPrefix);
  const path = (given.startsWith(prefix) && given.slice(prefix.length)) || given;
  const cut = path.replace(/\/$/, '').lastIndexOf('/') + 1;
  return (
    <span class="path">
      <span class="folders">
        <PlainText text={path.slice(0, cut)} />
      </span>
      <span class="file">
        <PlainText text={path.slice(cut) + after} />
      </span>
    </span>
  );
}
