import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { PlainText } from '../code/plain-text.tsx';

/** The folder that paths are relative to; without one, they are shown as they are. */
export const BaseFolder = createContext<string | undefined>(undefined);

interface PathProps {
  readonly path: string;
  // Text after the path, such as line numbers.
  readonly after?: string | undefined;
}

/** A path on one line, relative to the base folder; if it is too long, the folders are cut first. */
export function Path({ path: given, after = '' }: PathProps) {
  const base = `${useContext(BaseFolder) ?? ''}/`;
  const path = base !== '/' && given.length > base.length && given.startsWith(base) ? given.slice(base.length) : given;
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
