const ISO = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** The moment that an ISO date means, in milliseconds of the epoch; undefined for anything else. A day begins in UTC. */
export function isoTime(text: string): number | undefined {
  const [, day] = ISO.exec(text) ?? [];
  const at = Date.parse(text);
  return day === undefined || Number.isNaN(at) || !isInCalendar(day) ? undefined : at;
}

/** A day that is none, such as the 30th of February, would be taken for one of the next month. */
const isInCalendar = (day: string) => new Date(`${day}T00:00Z`).toISOString().startsWith(day);
