import { Fragment } from 'preact';
import { useMemo } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';
import { PlainText, visibleNodes } from './plain-text.tsx';
import type { CodeToken } from './token.ts';
import { useTokens } from './use-tokens.ts';

const MAX_LANGUAGE_CHARACTERS = 60;

interface CodeProps {
  readonly text: string;
  // A language name or file extension: `ts`, `python`.
  readonly language: string;
  readonly isOpen?: boolean | undefined;
}

/** Highlighted code as a block with a copy button. */
export const CodeBlock = ({ text, language, isOpen }: CodeProps) => (
  <figure class="code">
    <figcaption>
      <span>
        <PlainText text={language.slice(0, MAX_LANGUAGE_CHARACTERS)} />
      </span>
      <CopyButton text={() => text} />
    </figcaption>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
    <pre tabIndex={0}>
      <code>
        <HighlightedCode text={text} language={language} isOpen={isOpen} />
      </code>
    </pre>
  </figure>
);

/** Inline highlighted code. Colours appear when they are loaded, without moving any text. */
export function HighlightedCode({ text, language, isOpen = false }: CodeProps) {
  const name = language.split(/[\s,{:]/, 1)[0]?.toLowerCase() ?? '';
  return (
    <>
      {useTokens({ text, language: name, isOpen }).map((tokens, at) => (
        <TokenRun key={at} tokens={tokens} />
      ))}
    </>
  );
}

/** Memoised: equal tokens are not drawn again. */
const TokenRun = ({ tokens }: { readonly tokens: readonly CodeToken[] }) =>
  useMemo(() => <>{tokens.map(renderToken)}</>, [tokens]);

/** Keys are positions: when colours arrive, text nodes are replaced in place. */
const renderToken = ({ text, colour }: CodeToken, at: number) =>
  colour === undefined ? (
    <Fragment key={at}>{visibleNodes(text)}</Fragment>
  ) : (
    <span key={at} class={`code-${colour}`}>
      {visibleNodes(text)}
    </span>
  );
