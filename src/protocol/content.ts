import { count, nonEmpty, flag, freeform, list, literal, object, optional, text, union } from './schema.ts';

export const TextContent = object(
  { type: literal('text'), text: text(), textSignature: optional(text('Opaque; replayed to the provider.')) },
  'TextContent',
);

export const ImageContent = object(
  { type: literal('image'), data: text('Base64.'), mimeType: text() },
  'ImageContent',
  'The one form in which images are sent.',
);

export const ThinkingContent = object(
  {
    type: literal('thinking'),
    thinking: text(),
    thinkingSignature: optional(text('Opaque; replayed to the provider.')),
    redacted: optional(flag()),
  },
  'ThinkingContent',
);

export const ToolCall = object(
  {
    type: literal('toolCall'),
    id: text(),
    name: text(),
    arguments: freeform('As the model wrote them, before validation.'),
    thoughtSignature: optional(text('Opaque; replayed to the provider.')),
  },
  'ToolCall',
);

const ForeignImage = object(
  {
    type: literal('image'),
    source: object({
      type: optional(literal('base64')),
      mediaType: optional(text()),
      media_type: optional(text()),
      mimeType: optional(text()),
      data: nonEmpty(),
    }),
  },
  'ForeignImage',
  'The Anthropic spelling of an image, accepted and converted.',
);

const PlainImage = object(
  { type: optional(literal('image')), data: nonEmpty('Base64.'), mimeType: nonEmpty() },
  'PlainImage',
);

export const ImageInput = union([PlainImage, ForeignImage], 'ImageInput', 'An image as clients may send it.');

export const ContentBlock = union([TextContent, ImageContent], 'ContentBlock');

export const AssistantBlock = union([TextContent, ThinkingContent, ToolCall], 'AssistantBlock');

export const Attachment = object(
  {
    id: text(),
    type: text(),
    fileName: text(),
    mimeType: text(),
    size: count(),
    content: text(),
    extractedText: optional(union([text(), { type: 'null' }])),
    preview: optional(union([text(), { type: 'null' }])),
  },
  'Attachment',
  'Found on user messages of old sessions; tau keeps but never makes them.',
);

export const ContentBlocks = list(ContentBlock);
