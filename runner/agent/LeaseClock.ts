import { bootSeconds } from "./BootClock.ts"

/**
 * A time on two clocks: one that advances while the machine is suspended, and one with a higher resolution. The wall clock is
 * never used.
 */
export interface Moment {
  readonly boot: number
  readonly monotonic: number
}

export interface Clocks {
  readonly bootSeconds: () => number
  readonly monotonicSeconds: () => number
}

const millisecondsInSecond = 1000

export const machineClocks: Clocks = {
  bootSeconds,
  monotonicSeconds: () => performance.now() / millisecondsInSecond
}

export const momentOf = (clocks: Clocks): Moment => ({
  boot: clocks.bootSeconds(),
  monotonic: clocks.monotonicSeconds()
})

/**
 * Returns the time according to the clock that has advanced further, because it is better to end a lease too early than too
 * late.
 */
export const elapsedSeconds = (clocks: Clocks, since: Moment): number =>
  Math.max(clocks.bootSeconds() - since.boot, clocks.monotonicSeconds() - since.monotonic)

/** Times at which a tool is stopped, in seconds from the start of its lease. */
export interface StopTimes {
  /** Time of the only SIGINT, after which the tool can save its state and exit. */
  readonly interruptAfter: number
  /** Time at which the tool is killed. */
  readonly killAfter: number
}

/**
 * A typical lease has ten minutes between SIGINT and the kill, and two minutes between the kill and the end of the lease.
 * Shorter leases have proportional margins.
 */
const margin = { seconds: 120, part: 0.2 }
const grace = { seconds: 600, part: 0.3 }

export const stopTimes = (leaseSeconds: number): StopTimes => {
  const killAfter = leaseSeconds - Math.min(margin.seconds, leaseSeconds * margin.part)
  return { killAfter, interruptAfter: killAfter - Math.min(grace.seconds, leaseSeconds * grace.part) }
}

/** A lease as measured by the agent: it starts when the agent sends the message whose response grants the lease. */
export interface Lease {
  /** Extends the lease. Ignores a response to a message sent before the lease's current start. */
  readonly extend: (sent: Moment, seconds: number) => void
  /** Restarts the lease. Call it only if nothing ran under the previous grant. */
  readonly begin: (sent: Moment, seconds: number) => void
  readonly secondsUntilInterrupt: () => number
  readonly secondsUntilKill: () => number
  /**
   * True if the lease has ever expired, even if the server has extended it since. The tool should have been killed at that
   * point.
   */
  readonly wasOver: () => boolean
  /** Returns the deadline by which the tool must be dead, as a time on the clock that all processes share. */
  readonly killAtBoot: () => number
}

export const makeLease = (clocks: Clocks, sent: Moment, seconds: number): Lease => {
  let held = { sent, times: stopTimes(seconds) }
  let ended = false
  const left = (after: number) => after - elapsedSeconds(clocks, held.sent)
  const wasOver = () => {
    ended ||= left(held.times.killAfter) <= 0
    return ended
  }
  return {
    extend: (later, granted) => {
      wasOver()
      if (later.boot >= held.sent.boot) held = { sent: later, times: stopTimes(granted) }
    },
    begin: (later, granted) => {
      held = { sent: later, times: stopTimes(granted) }
    },
    secondsUntilInterrupt: () => left(held.times.interruptAfter),
    secondsUntilKill: () => left(held.times.killAfter),
    wasOver,
    killAtBoot: () => held.sent.boot + held.times.killAfter
  }
}
