import { CodeBlock } from '../code/code-block.tsx';
import { PlainText } from '../code/plain-text.tsx';
import { prettyJson } from '../fields.ts';
import { Clipped } from './clipped.tsx';
import { Folded } from './folded.tsx';

/** More of it is no longer in colours. */
const MAX_COLOURED = 20_000;

/** Something that nobody here knows how to show, as it is stored. */
export const Unknown = ({ title, value }: { readonly title: string; readonly value: unknown }) => (
  <Folded kind="unknown" head={<PlainText text={title.slice(0, 80)} />}>
    <Json value={value} />
  </Folded>
);

/** A value as JSON. */
export function Json({ value }: { readonly value: unknown }) {
  const json = prettyJson(value);
  return json.length > MAX_COLOURED ? <Clipped text={json} lines={200} /> : <CodeBlock text={json} language="json" />;
}
