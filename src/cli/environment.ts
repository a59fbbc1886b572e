/** The environment variables of the help page. */
export const environment = {
  PI_CODING_AGENT_DIR: 'Folder of settings and sessions; ~/.pi/agent unless set',
  PI_CODING_AGENT_SESSION_DIR: 'Folder of sessions, unless --session-dir is given',
  PI_AUTH_TOKEN:
    'With tau serve: a token that may do everything; with tau attach: the one to show; no child inherits it',
  TAU_LOG: 'How much is logged, unless --log-level is given',
  NO_COLOR: 'Set: tau chat uses no colours',
  TERM: 'dumb: tau chat takes each line of stdin as a prompt',
} as const;
