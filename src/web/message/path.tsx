import { PlainText } from '../code/plain-text.tsx';

interface PathProps {
  readonly path: string;
  // Text after the path, such as line numbers.
  readonly after?: string | undefined;
}

/** A path on one line; if it is too long, the folders are cut first. */
export function Path({ path, after = '' }: PathProps) {
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
