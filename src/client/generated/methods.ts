// Generated from the protocol tables by scripts/generate.mjs. Do not edit.
import type { CommandName, Params, Result } from '../../protocol/generated/vocabulary.ts';

/** A method per command. */
export abstract class AgentMethods {
  /** Sends a command and waits for its response. */
  abstract call<C extends CommandName>(command: C, params: Params<C>): Promise<Result<C>>;

  /** Send a user message. Responds once it is stored, queued or handled; the rest arrives as events. */
  prompt(params: Params<'prompt'>): Promise<Result<'prompt'>> {
    return this.call('prompt', params);
  }

  /** Queue a message for delivery before the next model call of the run; opens a run when idle. */
  steer(params: Params<'steer'>): Promise<Result<'steer'>> {
    return this.call('steer', params);
  }

  /** Queue a message for delivery when the run would end; opens a run when idle. */
  followUp(params: Params<'follow_up'>): Promise<Result<'follow_up'>> {
    return this.call('follow_up', params);
  }

  /** Stop the run and start another one with this message, before anything queued. */
  abortAndPrompt(params: Params<'abort_and_prompt'>): Promise<Result<'abort_and_prompt'>> {
    return this.call('abort_and_prompt', params);
  }

  /** Deliver steering messages one per turn, or all at once. */
  async setSteeringMode(params: Params<'set_steering_mode'>): Promise<void> {
    await this.call('set_steering_mode', params);
  }

  /** Deliver follow-up messages one at a time, or all at once. */
  async setFollowUpMode(params: Params<'set_follow_up_mode'>): Promise<void> {
    await this.call('set_follow_up_mode', params);
  }

  /** Withdraw every queued message. */
  clearQueue(): Promise<Result<'clear_queue'>> {
    return this.call('clear_queue', {});
  }

  /** Withdraw one queued message. */
  removeQueued(params: Params<'remove_queued'>): Promise<Result<'remove_queued'>> {
    return this.call('remove_queued', params);
  }

  /** Change the text of a queued message, which keeps its position. */
  async editQueued(params: Params<'edit_queued'>): Promise<void> {
    await this.call('edit_queued', params);
  }

  /** Stop the run. Responds when everything has stopped; succeeds when idle. Queued messages are kept and join the next run; a message that is not accepted yet is rejected. */
  async abort(params: Params<'abort'> = {}): Promise<void> {
    await this.call('abort', params);
  }

  /** Responds when no run is active, at once if none is. */
  waitIdle(): Promise<Result<'wait_idle'>> {
    return this.call('wait_idle', {});
  }

  /** Let steering wait for the tools of the turn, or skip those not started yet. */
  async setInterruptMode(params: Params<'set_interrupt_mode'>): Promise<void> {
    await this.call('set_interrupt_mode', params);
  }

  /** Replace the older part of the conversation by a summary. */
  compact(params: Params<'compact'> = {}): Promise<Result<'compact'>> {
    return this.call('compact', params);
  }

  /** Compact by itself when the context is nearly full, or not. */
  async setAutoCompaction(params: Params<'set_auto_compaction'>): Promise<void> {
    await this.call('set_auto_compaction', params);
  }

  /** Retry by itself after transient model failures, or not. */
  async setAutoRetry(params: Params<'set_auto_retry'>): Promise<void> {
    await this.call('set_auto_retry', params);
  }

  /** Give up a retry that is waiting. */
  async abortRetry(): Promise<void> {
    await this.call('abort_retry', {});
  }

  /** Negotiate options; returns the protocol number, the capabilities in force and the limits. */
  hello(params: Params<'hello'> = {}): Promise<Result<'hello'>> {
    return this.call('hello', params);
  }

  /** Responds at once, whatever the agent does: the connection is alive. */
  async ping(): Promise<void> {
    await this.call('ping', {});
  }

  /** Start an empty session. A run is stopped first. */
  newSession(params: Params<'new_session'> = {}): Promise<Result<'new_session'>> {
    return this.call('new_session', params);
  }

  /** Load another session file. A run is stopped first. */
  switchSession(params: Params<'switch_session'>): Promise<Result<'switch_session'>> {
    return this.call('switch_session', params);
  }

  /** Copy the conversation before a user message into a new session and switch to it; returns the text of the message. */
  fork(params: Params<'fork'>): Promise<Result<'fork'>> {
    return this.call('fork', params);
  }

  /** The xcsh name of `fork`. */
  branch(params: Params<'branch'>): Promise<Result<'branch'>> {
    return this.call('branch', params);
  }

  /** Copy the active branch into a new session and switch to it. A run is stopped first. */
  clone(params: Params<'clone'> = {}): Promise<Result<'clone'>> {
    return this.call('clone', params);
  }

  /** The user messages of every branch, in file order, each a point to fork at. */
  getForkMessages(): Promise<Result<'get_fork_messages'>> {
    return this.call('get_fork_messages', {});
  }

  /** The xcsh name of `get_fork_messages`. */
  getBranchMessages(): Promise<Result<'get_branch_messages'>> {
    return this.call('get_branch_messages', {});
  }

  /** The state of the session. */
  getState(): Promise<Result<'get_state'>> {
    return this.call('get_state', {});
  }

  /** Every message of the conversation as the model sees it. */
  getMessages(): Promise<Result<'get_messages'>> {
    return this.call('get_messages', {});
  }

  /** The messages of the conversation, a page at a time. Within a page the oldest is first. */
  getMessagesPage(params: Params<'get_messages_page'> = {}): Promise<Result<'get_messages_page'>> {
    return this.call('get_messages_page', params);
  }

  /** Entries of the session file in file order, all of them or those after one. */
  getEntries(params: Params<'get_entries'> = {}): Promise<Result<'get_entries'>> {
    return this.call('get_entries', params);
  }

  /** The whole session tree, nested as deep as the conversation is long; `get_entries` is flat. */
  getTree(): Promise<Result<'get_tree'>> {
    return this.call('get_tree', {});
  }

  /** Continue from another entry of the tree. */
  navigateTree(params: Params<'navigate_tree'>): Promise<Result<'navigate_tree'>> {
    return this.call('navigate_tree', params);
  }

  /** The text of the last assistant message, null when there is none. */
  getLastAssistantText(): Promise<Result<'get_last_assistant_text'>> {
    return this.call('get_last_assistant_text', {});
  }

  /** Give the session a name for listings. */
  async setSessionName(params: Params<'set_session_name'>): Promise<void> {
    await this.call('set_session_name', params);
  }

  /** Messages, tokens, cost and context use of the session. */
  getSessionStats(): Promise<Result<'get_session_stats'>> {
    return this.call('get_session_stats', {});
  }

  /** Stored sessions, the newest first. */
  listSessions(params: Params<'list_sessions'> = {}): Promise<Result<'list_sessions'>> {
    return this.call('list_sessions', params);
  }

  /** Move a stored session to the trash folder beside it. A server refuses a session with a run or other clients, unless `stop` names `run` or `all`. */
  deleteSession(params: Params<'delete_session'>): Promise<Result<'delete_session'>> {
    return this.call('delete_session', params);
  }

  /** Move a session from the trash back to the folder beside it. */
  restoreSession(params: Params<'restore_session'>): Promise<Result<'restore_session'>> {
    return this.call('restore_session', params);
  }

  /** Give a stored session another name for listings. */
  async renameSession(params: Params<'rename_session'>): Promise<void> {
    await this.call('rename_session', params);
  }

  /** Check everything a prompt needs, without calling a model. */
  preflight(): Promise<Result<'preflight'>> {
    return this.call('preflight', {});
  }

  /** Write the session as one HTML page. An existing file is replaced only if it is a web page. */
  exportHtml(params: Params<'export_html'> = {}): Promise<Result<'export_html'>> {
    return this.call('export_html', params);
  }

  /** Files and folders below the folder of the session whose paths contain the letters of a query in order, the nearest first, without those that git ignores. */
  listFiles(params: Params<'list_files'> = {}): Promise<Result<'list_files'>> {
    return this.call('list_files', params);
  }

  /** The slash commands that `prompt` accepts. */
  getCommands(params: Params<'get_commands'> = {}): Promise<Result<'get_commands'>> {
    return this.call('get_commands', params);
  }

  /** Trust the project folder, or stop trusting it: its settings apply only when it is trusted. */
  setTrust(params: Params<'set_trust'>): Promise<Result<'set_trust'>> {
    return this.call('set_trust', params);
  }

  /** Use another model from the next model call on. */
  setModel(params: Params<'set_model'>): Promise<Result<'set_model'>> {
    return this.call('set_model', params);
  }

  /** Use the next available model; null when there is only one. */
  cycleModel(): Promise<Result<'cycle_model'>> {
    return this.call('cycle_model', {});
  }

  /** Every model that can be used now. */
  getAvailableModels(params: Params<'get_available_models'> = {}): Promise<Result<'get_available_models'>> {
    return this.call('get_available_models', params);
  }

  /** Set how much the model thinks. A level it lacks becomes the nearest it has, upwards first. */
  async setThinkingLevel(params: Params<'set_thinking_level'>): Promise<void> {
    await this.call('set_thinking_level', params);
  }

  /** Store a key for a provider in auth.json; its models can be used at once. */
  setCredential(params: Params<'set_credential'>): Promise<Result<'set_credential'>> {
    return this.call('set_credential', params);
  }

  /** Remove the key of a provider from auth.json. A key from elsewhere stays in use. */
  removeCredential(params: Params<'remove_credential'>): Promise<Result<'remove_credential'>> {
    return this.call('remove_credential', params);
  }

  /** The providers that a key can be stored for, the most common first. Contains no key. */
  listProviders(): Promise<Result<'list_providers'>> {
    return this.call('list_providers', {});
  }

  /** The providers that `login` can sign in to. Contains no credential. */
  getLoginProviders(): Promise<Result<'get_login_providers'>> {
    return this.call('get_login_providers', {});
  }

  /** Sign in to a provider. The user is guided by `extension_ui_request` (open_url, notify, input, select) and the response follows at the end, after at most 10 minutes. An abort ends it. */
  login(params: Params<'login'>): Promise<Result<'login'>> {
    return this.call('login', params);
  }

  /** Use the next thinking level; null when the model does not think. */
  cycleThinkingLevel(): Promise<Result<'cycle_thinking_level'>> {
    return this.call('cycle_thinking_level', {});
  }

  /** The thinking levels of the current model. */
  getAvailableThinkingLevels(): Promise<Result<'get_available_thinking_levels'>> {
    return this.call('get_available_thinking_levels', {});
  }

  /** Run a shell command and put its output into the conversation. */
  bash(params: Params<'bash'>): Promise<Result<'bash'>> {
    return this.call('bash', params);
  }

  /** Kill the shell commands that `bash` started. */
  async abortBash(): Promise<void> {
    await this.call('abort_bash', {});
  }

  /** Every tool, and whether it is offered to the model. */
  getTools(): Promise<Result<'get_tools'>> {
    return this.call('get_tools', {});
  }

  /** Offer the model these tools and no others, from its next call on. */
  setActiveTools(params: Params<'set_active_tools'>): Promise<Result<'set_active_tools'>> {
    return this.call('set_active_tools', params);
  }

  /** Replace the tools that this client runs for the agent. */
  setHostTools(params: Params<'set_host_tools'>): Promise<Result<'set_host_tools'>> {
    return this.call('set_host_tools', params);
  }

  /** Replace the MCP servers that clients have added to this session. Responds when each of them is connected or has failed. */
  setMcpServers(params: Params<'set_mcp_servers'>): Promise<Result<'set_mcp_servers'>> {
    return this.call('set_mcp_servers', params);
  }

  /** Replace the todo list. */
  setTodos(params: Params<'set_todos'>): Promise<Result<'set_todos'>> {
    return this.call('set_todos', params);
  }

  /** Choose which tool calls run without a question, also during a run: questions that the new mode answers are closed. On a server a looser mode, or less of a sandbox, needs the scope `admin`. */
  setApprovalMode(params: Params<'set_approval_mode'> = {}): Promise<Result<'set_approval_mode'>> {
    return this.call('set_approval_mode', params);
  }

  /** The approvals that were given for this session and saved for its project. */
  getApprovals(): Promise<Result<'get_approvals'>> {
    return this.call('get_approvals', {});
  }

  /** Withdraw an approval, in this session and in the saved ones of its project. */
  async removeApproval(params: Params<'remove_approval'>): Promise<void> {
    await this.call('remove_approval', params);
  }
}
