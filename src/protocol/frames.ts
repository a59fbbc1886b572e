import { approvalLimit } from './approvals/approval.ts';
import { ContentBlocks } from './content.ts';
import { flag, literal, object, optional, text, unknown } from './schema.ts';

const ToolOutput = object({ content: ContentBlocks, details: optional(unknown()) }, 'ToolOutput');

/** Frames: inbound objects that are not commands and get no response. */
export const frames = {
  extension_ui_response: {
    doc: 'Answers a dialog. Exactly one of value, confirmed and cancelled is set.',
    schema: object(
      {
        type: literal('extension_ui_response'),
        id: text(),
        value: optional(text()),
        confirmed: optional(flag()),
        cancelled: optional(flag()),
        timedOut: optional(flag('With cancelled, from a server: the dialog was not answered.')),
        message: optional(text('With an approval: sent to the model with the denial.')),
        approvalLimit,
      },
      'ExtensionUiResponse',
    ),
  },
  host_tool_update: {
    doc: 'Progress of a tool that the client runs.',
    schema: object({ type: literal('host_tool_update'), id: text(), partialResult: ToolOutput }, 'HostToolUpdate'),
  },
  host_tool_result: {
    doc: 'The result of a tool that the client ran.',
    schema: object(
      { type: literal('host_tool_result'), id: text(), result: ToolOutput, isError: optional(flag()) },
      'HostToolResult',
    ),
  },
  entries_kept: {
    doc: 'The host of an agent with `--kept-by-host` has stored all entries up to this one.',
    schema: object({ type: literal('entries_kept'), id: text() }, 'EntriesKept'),
  },
} as const;
