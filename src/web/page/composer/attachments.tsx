import { useComputed } from '@preact/signals';
import { PlainText } from '../../code/plain-text.tsx';
import { Icon } from '../icons.tsx';
import { useSession } from '../state/app.ts';
import type { Attachment } from '../state/draft/attachment.ts';
import type { MessageDraft } from '../state/draft/message-draft.ts';

/** Lists the attachments of the draft. */
export function Attachments({ draft }: { readonly draft: MessageDraft }) {
  const { view } = useSession();
  const takesImages = useComputed(() => view.value.state.model?.input.includes('image') ?? true).value;
  const attachments = draft.attachments.value;
  const isReading = draft.pendingFiles.value > 0;
  if (attachments.length === 0 && !isReading) return null;
  const hasUnseenImage = !takesImages && attachments.some(({ kind }) => kind === 'image');
  return (
    <div class="attached">
      <ul class="attached-files" aria-label="Attachments">
        {attachments.map((attachment, at) => (
          <li key={`${at} ${attachment.name}`} class={`attached-file ${attachment.kind}`}>
            <AttachmentPreview attachment={attachment} />
            <button
              type="button"
              class="quiet icon-only"
              aria-label={`Remove ${attachment.name}`}
              onClick={() => draft.detach(attachment)}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      {isReading && <p class="note">Reading files…</p>}
      {hasUnseenImage && <p class="note">This model cannot see images.</p>}
    </div>
  );
}

function AttachmentPreview({ attachment }: { readonly attachment: Attachment }) {
  if (attachment.kind === 'image')
    return <img src={`data:${attachment.mimeType};base64,${attachment.data}`} alt={attachment.name} />;
  return (
    <>
      <Icon name="file" />
      <span class="attached-name">
        <PlainText text={attachment.name} />
      </span>
      <span class="note">{kilobytes(attachment.bytes)}</span>
    </>
  );
}

const kilobytes = (bytes: number) => (bytes < 1024 ? `${bytes} B` : `${Math.round(bytes / 1024)} KB`);
