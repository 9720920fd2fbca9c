/** Milliseconds of units that always last the same. Days by a clock on the wall, which may have 23 hours, are counted by `daysAfter`. */
export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
