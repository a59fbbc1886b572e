import { choice, count, flag, freeform, list, literal, nonEmpty, object, optional, text, union } from '../schema.ts';

const modes = ['plan', 'ask', 'edit', 'auto', 'full'] as const;

export const ApprovalMode = choice(
  modes,
  'ApprovalMode',
  'Which tool calls of the model run without a question, from the strictest to the loosest mode: see docs/approvals.md.',
);

/** The loosest mode that a run with this message may have. A server sets it for clients whose token has a limit. */
export const approvalLimit = optional(ApprovalMode);

export const SandboxUse = choice(
  ['off', 'auto', 'required', 'external'],
  'SandboxUse',
  'Whether commands of the model run in a sandbox: `auto` if one works, `required` or not at all, `external` if this machine is one.',
);

export const SandboxState = object(
  {
    status: choice(['off', 'on', 'unavailable', 'external']),
    engine: optional(choice(['bubblewrap', 'seatbelt'])),
    reason: optional(text('Why no sandbox works.')),
    network: optional(choice(['ask', 'none', 'open'], undefined, 'What commands in the sandbox may connect to.')),
    writable: optional(list(text(), 'The folders that commands in the sandbox may change; empty: none.')),
  },
  'SandboxState',
);

const ApprovalOption = object(
  {
    optionId: nonEmpty(),
    name: text('The label, as in `options`.'),
    kind: choice(['allow_once', 'allow_session', 'allow_always', 'reject_once', 'reject_stop']),
    rule: optional(text('The rule that `allow_always` saves.')),
  },
  'ApprovalOption',
);

const ApprovalSubject = union(
  [
    object({ type: literal('command'), command: text(), cwd: text(), hooks: optional(list(text())) }),
    object({ type: literal('edit'), path: text('The real path of the file.'), diff: optional(text()) }),
    object({ type: literal('host'), host: text(), port: count() }),
    object({ type: literal('tool'), input: freeform('The arguments of the call.') }),
  ],
  'ApprovalSubject',
);

export const Approval = object(
  {
    kind: choice(['tool', 'outside', 'path', 'network']),
    toolCallId: optional(text('Absent if several calls may be the cause.')),
    toolName: text(),
    source: choice(['builtin', 'extension', 'host', 'mcp']),
    title: text(),
    description: optional(text()),
    subject: ApprovalSubject,
    needs: optional(
      choice(
        modes,
        undefined,
        'The strictest mode that runs the call without a question: no client with a lower limit can allow it. Absent: full.',
      ),
    ),
    waitMs: optional(count('How long the question waits while no client can show it. Absent: 10 minutes.')),
    why: object({ mode: ApprovalMode, rule: optional(text('The rule that requires the question.')) }),
    isCut: optional(flag('The subject was too long to be shown whole.')),
    options: list(ApprovalOption),
  },
  'Approval',
  'What a question about a tool call is about: for clients that draw it themselves.',
);

export const SavedApproval = object(
  {
    rule: nonEmpty('A rule such as `bash(npm test)`.'),
    scope: choice(['session', 'project'], undefined, 'Until the session is left, or saved for the project.'),
    at: optional(text('ISO 8601.')),
  },
  'SavedApproval',
);
