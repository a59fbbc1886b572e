// Generated from the protocol tables by scripts/generate.mjs. Do not edit.

/** The values of every named choice, in order. */
export const choices = {
  ThinkingLevel: ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  ThinkingLevelInput: ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'brief'],
  StopReason: ['stop', 'length', 'toolUse', 'error', 'aborted'],
  RunError: ['model_error', 'auth_failed', 'payment_required', 'rate_limited', 'overloaded', 'context_overflow', 'context_full', 'stalled', 'connection_lost', 'empty_answer', 'storage_failed', 'interrupted', 'internal'],
  Feature: ['stream_delta', 'tool_output_delta', 'ids', 'entries', 'builtins', 'heartbeat', 'client_message_ids', 'queue_items', 'budgets', 'detached_sessions', 'host_tools', 'mcp_servers', 'resume'],
  InterruptMode: ['immediate', 'wait'],
  QueueMode: ['all', 'one-at-a-time'],
  ApprovalMode: ['plan', 'ask', 'edit', 'auto', 'full'],
  SandboxUse: ['off', 'auto', 'required', 'external'],
  RunOutcome: ['ok', 'error', 'aborted', 'budget'],
} as const;
