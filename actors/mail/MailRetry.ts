const backoffMinutes = [1, 5, 15, 60] as const

/** How long after a failed attempt the next one is made: soon at first, then hourly. */
export const retryAfterMillis = (attempts: number): number =>
  (backoffMinutes[Math.max(attempts, 1) - 1] ?? backoffMinutes[backoffMinutes.length - 1] ?? 60) * 60_000
