const backoffMinutes = [1, 5, 15, 60] as const

/** The delay after a failed attempt: short at first, later an hour. */
export const retryAfterMillis = (attempts: number): number =>
  (backoffMinutes[Math.max(attempts, 1) - 1] ?? backoffMinutes[backoffMinutes.length - 1] ?? 60) * 60_000
