import { readFileSync } from "node:fs"

/**
 * Returns the seconds since this machine started, with a resolution of a hundredth of a second. Unlike a monotonic clock,
 * this clock advances while the machine is suspended; all processes read the same value, and nobody can set it.
 */
export const bootSeconds = (): number => Number.parseFloat(readFileSync("/proc/uptime", "latin1"))
