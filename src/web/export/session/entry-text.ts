import { oneLine } from '../../format.ts';
import { blockText, searchableText } from '../../message/searchable-text.ts';
import { asObject, asObjects, asText, contentBlocks, contentText, ownProperty, type Untyped } from '../../untyped.ts';
import type { TreeEntry } from './exported-session.ts';

/** A one-line title for the outline. */
export function entryTitle(
  { kind, type, fields, message }: TreeEntry,
  callOf: (id: string) => Untyped | undefined,
): string {
  switch (kind) {
    case 'user':
      return withoutMarkup(contentText(message['content'])) || '(a picture)';
    case 'assistant':
      return (
        withoutMarkup(contentText(message['content'])) ||
        toolNames(message) ||
        withoutMarkup(asText(message['errorMessage'])) ||
        '(no text)'
      );
    case 'toolResult':
      return oneLine(`${asText(message['toolName'])} ${callSubject(callOf(asText(message['toolCallId'])))}`, 120);
    case 'bashExecution':
      return oneLine(asText(message['command']), 120);
    case 'compaction':
      return `Compacted: ${withoutMarkup(asText(fields['summary']))}`;
    case 'branch_summary':
      return `Came back: ${withoutMarkup(asText(fields['summary']))}`;
    case 'label':
      return `Label: ${asText(fields['label'])}`;
    default:
      return (
        markerText({ kind, fields }) ??
        oneLine(`${type.replaceAll('_', ' ')} ${searchableEntryText({ fields, message })}`, 120)
      );
  }
}

const markers: Readonly<Record<string, (fields: Untyped) => string>> = {
  model_change: ({ provider, modelId }) => `Model: ${asText(provider)}/${asText(modelId)}`,
  thinking_level_change: ({ thinkingLevel }) => `Thinking: ${asText(thinkingLevel)}`,
  session_info: ({ name }) => `Named: ${asText(name) || 'nothing'}`,
  context_edit: ({ targetId }) => `Context edited: ${asText(targetId)}`,
};

/** The text of an entry that marks a change between messages. */
export const markerText = ({ kind, fields }: Pick<TreeEntry, 'kind' | 'fields'>): string | undefined =>
  ownProperty(markers, kind)?.(fields);

const withoutMarkup = (text: string) => oneLine(text.slice(0, 600).replaceAll(/[`*#]+/g, ''), 120);

const toolNames = (message: Untyped) =>
  asObjects(message['content'])
    .filter(({ type }) => type === 'toolCall')
    .map(({ name }) => asText(name))
    .join(', ');

function callSubject(call: Untyped | undefined): string {
  const args = asObject(call?.['arguments']);
  return asText(args['command'] ?? args['path'] ?? Object.values(args).find((value) => typeof value === 'string'));
}

/** The text of an entry that the search matches. */
export function searchableEntryText({ fields, message }: Pick<TreeEntry, 'fields' | 'message'>): string {
  const others = [fields['summary'], fields['name'], fields['label'], fields['modelId']].map(asText);
  const texts = [searchableText(message), ...contentBlocks(fields['content']).map(blockText), ...others];
  return texts.filter(Boolean).join('\n');
}
