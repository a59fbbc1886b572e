import { useContext } from 'preact/hooks';
import { PlainText } from '../code/plain-text.tsx';
import { type Fields, listOf, textOf, wordsOf } from '../fields.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { counted, linesIn } from '../words.ts';
import { ShowAll, useWhole } from './clipped.tsx';
import { WholePage } from './folded.tsx';
import { Notice } from './found/notice.tsx';
import type { ViewProps } from './message.tsx';
import { Pictures } from './pictures.tsx';

/** A message with more lines than these is cut until somebody wants it all. */
const LONG = 40;
const MANY_LETTERS = 4000;

/** What the user said. */
export function UserWords({ message, children }: ViewProps) {
  return (
    <div class="question">
      <div class="said">
        <Words text={wordsOf(message['content'])} />
        <Pictures content={message['content']} />
        <Attachments list={listOf(message['attachments'])} />
      </div>
      {children && <footer class="foot-line message-actions">{children}</footer>}
    </div>
  );
}

/** What an extension put into the conversation, if it is for people. */
export function CustomWords({ message }: ViewProps) {
  if (message['display'] !== true) return null;
  return (
    <section class="custom">
      <Notice text={textOf(message['customType']).slice(0, 80)} />
      <Words text={wordsOf(message['content'])} />
      <Pictures content={message['content']} />
    </section>
  );
}

function Words({ text }: { readonly text: string }) {
  const isSearched = useContext(WholePage);
  const [isWhole, showAll] = useWhole();
  if (text === '') return null;
  const lines = linesIn(text);
  if (isSearched || isWhole || (lines <= LONG && text.length <= MANY_LETTERS)) return <Markdown text={text} />;
  return (
    <>
      <div class="beginning">
        <Markdown text={text} />
      </div>
      <ShowAll what={lines > LONG ? counted(lines, 'line') : counted(text.length, 'character')} onClick={showAll} />
    </>
  );
}

/** Files that old sessions keep beside the words. */
function Attachments({ list }: { readonly list: readonly Fields[] }) {
  if (list.length === 0) return null;
  return (
    <ul class="attachments" aria-label="Attachments">
      {list.map(({ fileName, mimeType }) => (
        <li>
          <PlainText text={textOf(fileName).slice(0, 200) || textOf(mimeType).slice(0, 80) || 'A file of no name'} />
        </li>
      ))}
    </ul>
  );
}
