const ISO = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** Parses an ISO date to milliseconds since 1970; undefined for anything else. A date without time starts in UTC. */
export function isoTime(text: string): number | undefined {
  const [, day] = ISO.exec(text) ?? [];
  const at = Date.parse(text);
  return day === undefined || Number.isNaN(at) || !isInCalendar(day) ? undefined : at;
}

/** Date.parse turns an invalid day such as February 30 into one of the next month. */
const isInCalendar = (day: string) => new Date(`${day}T00:00Z`).toISOString().startsWith(day);
