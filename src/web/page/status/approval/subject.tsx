import { useMemo } from 'preact/hooks';
import type { ApprovalSubject } from '../../../../protocol/generated/vocabulary.ts';
import { fileLanguage } from '../../../code/file-language.ts';
import { Diff } from '../../../message/diff/diff.tsx';
import { diffOf } from '../../../message/diff/diff-lines.ts';
import { prettyJson } from '../../../untyped.ts';
import { ExactCode, ExactText } from './exact-text.tsx';

/** The command, file change, host or arguments that need an approval. */
export function Subject({ subject }: { readonly subject: ApprovalSubject }) {
  switch (subject.type) {
    case 'command':
      return <ExactCode text={subject.command} language="sh" kind="command" />;
    case 'edit':
      return <FileChange path={subject.path} diff={subject.diff ?? ''} />;
    case 'host':
      return (
        <p class="exact-name host">
          <span>
            <ExactText text={subject.host} />
          </span>
          <span class="note">port {subject.port}</span>
        </p>
      );
    case 'tool':
      return <ExactCode text={prettyJson(subject.input)} language="json" />;
    // An agent may name other subjects.
    default:
      return <ExactCode text={prettyJson(subject)} language="json" />;
  }
}

function FileChange({ path, diff }: { readonly path: string; readonly diff: string }) {
  const lines = useMemo(
    () => (diff === '' ? [] : diffOf({}, /^(?:---|@@) /m.test(diff) ? { patch: diff } : { diff })),
    [diff],
  );
  return (
    <>
      <p class="exact-name">
        <span>
          <ExactText text={path} />
        </span>
      </p>
      {lines.length > 0 && <Diff lines={lines} language={fileLanguage(path)} />}
    </>
  );
}
