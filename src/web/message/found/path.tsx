import { PlainText } from '../../code/plain-text.tsx';

interface PathProps {
  readonly path: string;
  /** What comes after it, such as lines. */
  readonly after?: string | undefined;
}

/** A path in a line. Where there is no room, its folders are cut rather than its name. */
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
