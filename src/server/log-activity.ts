import type { AgentActivity } from './hosting/agent/hosted-agent.ts';
import type { ServerLog } from './server-log.ts';

/**
 * Logs what an agent printed to stderr and the end of its runs, with its session and process id.
 *
 * Lines of tau are warnings. Other output, of extensions and of programs that they start, and the log lines of the
 * agent itself are logged at `debug` only.
 */
export function logActivity(log: ServerLog, sessionId: string, { pid, ...activity }: AgentActivity): void {
  switch (activity.kind) {
    case 'stderr': {
      const [, message] = /^tau: (.+)$/.exec(activity.line) ?? [];
      if (message === undefined) log.event('debug', 'agent printed', { sessionId, pid, line: activity.line });
      else log.event('warn', 'agent warned', { sessionId, pid, warning: message });
      return;
    }
    case 'omitted':
      log.event('warn', 'agent printed too much', { sessionId, pid, omittedLines: activity.lines });
      return;
    case 'run': {
      const { runId, outcome, errorCode } = activity.event;
      const level = errorCode === 'storage_failed' || errorCode === 'internal' ? 'error' : 'info';
      log.event(level, 'run settled', { sessionId, pid, runId, outcome, code: errorCode });
    }
  }
}
