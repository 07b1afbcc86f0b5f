import { describe, expect, test } from "bun:test"
import { elapsedSeconds, makeLease, momentOf, stopTimes } from "../../../runner/agent/LeaseClock.ts"

/** Creates clocks that a test can advance. */
const movable = () => {
  const at = { boot: 1000, monotonic: 10 }
  return { at, clocks: { bootSeconds: () => at.boot, monotonicSeconds: () => at.monotonic } }
}

describe("Agent leases", () => {
  test("an agent's lease includes the time during which the machine was suspended, and is never shorter than the time on the finer clock", () => {
    const { at, clocks } = movable()
    const since = momentOf(clocks)
    at.boot += 3600
    at.monotonic += 1
    expect(elapsedSeconds(clocks, since)).toBe(3600)
    at.boot = since.boot
    at.monotonic = since.monotonic + 7
    expect(elapsedSeconds(clocks, since)).toBe(7)
  })

  test("an apply's lease reserves ten minutes to stop and two spare minutes at the end, and a short lease reserves less", () => {
    expect(stopTimes(45 * 60)).toEqual({ interruptAfter: 33 * 60, killAfter: 43 * 60 })
    expect(stopTimes(60)).toEqual({ interruptAfter: 30, killAfter: 48 })
    for (const seconds of [1, 10, 300, 2000, 7200]) {
      const { interruptAfter, killAfter } = stopTimes(seconds)
      expect(interruptAfter).toBeGreaterThan(0)
      expect(killAfter).toBeGreaterThan(interruptAfter)
      expect(killAfter).toBeLessThan(seconds)
    }
  })

  test("an agent's lease starts when the agent sends its message, no matter when the response arrives", () => {
    const { at, clocks } = movable()
    const sent = momentOf(clocks)
    at.boot += 20
    const lease = makeLease(clocks, sent, 60)
    expect(lease.secondsUntilKill()).toBe(28)
    expect(lease.killAtBoot()).toBe(1048)
  })

  test("an agent's lease that has expired stays expired, and does not expire early", () => {
    const { at, clocks } = movable()
    const lease = makeLease(clocks, momentOf(clocks), 60)
    at.boot += 47
    lease.extend(momentOf(clocks), 60)
    expect(lease.wasOver()).toBe(false)
    at.boot += 48
    lease.extend(momentOf(clocks), 60)
    expect(lease.secondsUntilKill()).toBe(48)
    expect(lease.wasOver()).toBe(true)
  })

  test("an agent's lease is not shortened by a late response to an earlier message", () => {
    const { at, clocks } = movable()
    const first = momentOf(clocks)
    at.boot += 10
    const second = momentOf(clocks)
    const lease = makeLease(clocks, first, 60)
    lease.extend(second, 60)
    lease.extend(first, 60)
    expect(lease.killAtBoot()).toBe(1058)
  })
})
