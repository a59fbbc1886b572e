import { useContext } from 'preact/hooks';
import { PlainText } from '../code/plain-text.tsx';
import { countLines, formatCount } from '../format.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { asObjects, asText, contentText, type Untyped } from '../untyped.ts';
import { ShowAll, useShowAll } from './clipped.tsx';
import { RenderFolded } from './folded.tsx';
import type { ViewProps } from './message.tsx';
import { Notice } from './notice.tsx';
import { Pictures } from './pictures.tsx';

// Longer messages are clipped until the user expands them.
const LONG_LINES = 40;
const LONG_CHARACTERS = 4000;

/** Shows a user message with its pictures and attachments. */
export function UserMessageView({ message, children }: ViewProps) {
  return (
    <div class="prompt">
      <div class="bubble">
        <ClippedMarkdown text={contentText(message['content'])} />
        <Pictures content={message['content']} />
        <Attachments list={asObjects(message['attachments'])} />
      </div>
      {children && <footer class="foot-line message-actions">{children}</footer>}
    </div>
  );
}

/** Shows a message of an extension, if it is meant for display. */
export function CustomMessageView({ message }: ViewProps) {
  if (message['display'] !== true) return null;
  return (
    <section class="custom">
      <Notice text={asText(message['customType']).slice(0, 80)} />
      <ClippedMarkdown text={contentText(message['content'])} />
      <Pictures content={message['content']} />
    </section>
  );
}

function ClippedMarkdown({ text }: { readonly text: string }) {
  const rendersAll = useContext(RenderFolded);
  const [showsAll, showAll] = useShowAll();
  if (text === '') return null;
  const lines = countLines(text);
  if (rendersAll || showsAll || (lines <= LONG_LINES && text.length <= LONG_CHARACTERS))
    return <Markdown text={text} />;
  return (
    <>
      <div class="clipped">
        <Markdown text={text} />
      </div>
      <ShowAll
        size={lines > LONG_LINES ? formatCount(lines, 'line') : formatCount(text.length, 'character')}
        onClick={showAll}
      />
    </>
  );
}

/** Old sessions store attachments beside the content. */
function Attachments({ list }: { readonly list: readonly Untyped[] }) {
  if (list.length === 0) return null;
  return (
    <ul class="attachments" aria-label="Attachments">
      {list.map(({ fileName, mimeType }) => (
        <li>
          <PlainText text={asText(fileName).slice(0, 200) || asText(mimeType).slice(0, 80) || 'A file of no name'} />
        </li>
      ))}
    </ul>
  );
}
