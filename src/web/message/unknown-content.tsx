import { CodeBlock } from '../code/code-block.tsx';
import { PlainText } from '../code/plain-text.tsx';
import { prettyJson } from '../untyped.ts';
import { Clipped } from './clipped.tsx';
import { Folded } from './folded.tsx';

// Longer JSON is not highlighted.
const MAX_HIGHLIGHTED_JSON = 20_000;

/** Content of an unknown type, shown as JSON. */
export const UnknownContent = ({ title, value }: { readonly title: string; readonly value: unknown }) => (
  <Folded kind="unknown" head={<PlainText text={title.slice(0, 80)} />}>
    <JsonView value={value} />
  </Folded>
);

export function JsonView({ value }: { readonly value: unknown }) {
  const json = prettyJson(value);
  return json.length > MAX_HIGHLIGHTED_JSON ? (
    <Clipped text={json} lines={200} />
  ) : (
    <CodeBlock text={json} language="json" />
  );
}
