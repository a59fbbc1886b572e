import { Fragment } from 'preact';
import { useMemo } from 'preact/hooks';
import { useColoured } from './coloured.ts';
import { CopyButton } from './copy-button.tsx';
import { PlainText, visible } from './plain-text.tsx';
import type { Token } from './token.ts';

const MAX_LABEL = 60;

interface CodeProps {
  readonly text: string;
  /** As it was named: `ts`, `python`, the ending of a file. */
  readonly language: string;
  /** Whether more is to come. */
  readonly isOpen?: boolean | undefined;
}

/** Code in its colours, in lines of its own, to be copied. */
export const CodeBlock = ({ text, language, isOpen }: CodeProps) => (
  <figure class="code">
    <figcaption>
      <span>
        <PlainText text={language.slice(0, MAX_LABEL)} />
      </span>
      <CopyButton text={() => text} />
    </figcaption>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled has to be reached with keys. */}
    <pre tabIndex={0}>
      <code>
        <Highlighted text={text} language={language} isOpen={isOpen} />
      </code>
    </pre>
  </figure>
);

/** Code in its colours, as a part of something else. They come when they are loaded; nothing moves then. */
export function Highlighted({ text, language, isOpen = false }: CodeProps) {
  const name = language.split(/[\s,{:]/, 1)[0]?.toLowerCase() ?? '';
  return (
    <>
      {useColoured({ text, language: name, isOpen }).map((tokens, at) => (
        <Piece key={at} tokens={tokens} />
      ))}
    </>
  );
}

/** Drawn once for the same tokens. */
const Piece = ({ tokens }: { readonly tokens: readonly Token[] }) => useMemo(() => <>{tokens.map(draw)}</>, [tokens]);

/** By its place: a text that has its colours now is no part of what it was without them, and nothing is seen to move. */
const draw = ({ text, colour }: Token, at: number) =>
  colour === undefined ? (
    <Fragment key={at}>{visible(text)}</Fragment>
  ) : (
    <span key={at} class={`code-${colour}`}>
      {visible(text)}
    </span>
  );
