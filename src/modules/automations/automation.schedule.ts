import { Cron } from 'croner';
import { dayMs } from '../../kernel/base/durations.js';
import { invalidField } from '../../kernel/base/errors.js';
import { atLocal, localTime } from '../../kernel/base/timeZones.js';

/** How far apart two runs of a schedule may be: what never comes in this time is no schedule. */
const horizonMs = 10 * 366 * dayMs;
/** Local times that the clocks have shown already are passed over: those of one doubled hour, to the second. */
const mostSkipped = 2 * 3600 + 2;

/**
 * A schedule as it is searched from a local time on: in the years of the horizon alone, since a search for what never comes goes through
 * centuries, and everybody waits for it. The clock of a zone is read as if it were UTC: so that what the clocks skip or show twice is ours
 * to say.
 */
function read(schedule: string, from: number): Cron {
  const [first, last] = [from, from + horizonMs].map((at) => new Date(at).getUTCFullYear());
  const fields = schedule.trim().split(/\s+/);
  if (fields.length === 5) fields.unshift('0');
  // A date, which is no cron expression but is taken as one, is found without a search.
  const within = schedule.includes(':') ? schedule : [...fields, `${first}-${last}`].join(' ');
  return new Cron(within, { timezone: 'UTC', paused: true });
}

/**
 * The next moment of a schedule after an instant, by the clock of a zone: what falls into a skipped hour is done at its end, and
 * what falls into a doubled one in its first. Null where there is none within ten years.
 */
export function nextMoment(schedule: string, zone: string, after: Date): Date | null {
  let local: Date | null = new Date(localTime(after, zone));
  const cron = read(schedule, local.getTime());
  for (let n = 0; n < mostSkipped; n++) {
    local = cron.nextRun(local);
    if (!local || local.getTime() - after.getTime() > horizonMs) return null;
    const at = atLocal(local.getTime(), zone);
    if (at > after) return at;
  }
  return null;
}

/** Throws 400 for what is no schedule, or never comes by the clock of a zone. */
export function checkSchedule(schedule: string | null | undefined, zone: string | null | undefined, now: Date): void {
  if (!schedule) return;
  const wrong = (why: string) => invalidField('schedule', 'invalid_format', `must be a cron expression of five or six fields${why}`);
  if (![5, 6].includes(schedule.trim().split(/\s+/).length)) throw wrong('');
  let next: Date | null;
  try {
    next = nextMoment(schedule, zone ?? 'UTC', now);
  } catch {
    throw wrong('');
  }
  if (!next) throw wrong(' that comes within ten years');
}
