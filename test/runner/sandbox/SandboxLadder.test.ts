import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { acceptedLevels, climb, namespacedLevels, type Rung } from "../../../runner/sandbox/SandboxLadder.ts"
import type { Isolation } from "../../../runner/sandbox/SandboxSettings.ts"
import { SandboxLevel } from "../../../schema/records/Run.ts"

/** Levels that work as the table specifies, and record each attempt to use them. */
const rungsOf = (works: ReadonlySet<SandboxLevel>, tried: Array<SandboxLevel>): ReadonlyArray<Rung<SandboxLevel>> =>
  // The levels in the wrong order, with an entry for the level that must never be chosen.
  [...SandboxLevel.literals].toReversed().map((level) => ({
    level,
    attempt: Effect.sync(() => {
      tried.push(level)
      return works.has(level)
        ? { _tag: "works", level, reason: `${level} was tried.` }
        : { _tag: "unavailable", reason: `${level} does not work here.`, remedy: `Mend ${level}.` }
    })
  }))

const climbing = (isolation: Isolation, works: ReadonlyArray<SandboxLevel>) => {
  const tried: Array<SandboxLevel> = []
  return { ...Effect.runSync(climb(isolation, rungsOf(new Set(works), tried))), tried }
}

/** Every combination of working levels. */
const tables = Array.from({ length: 2 ** SandboxLevel.literals.length }, (_, bits) =>
  SandboxLevel.literals.filter((_, index) => ((bits >> index) & 1) === 1)
)

describe("Isolation levels", () => {
  test("the search for a level never reaches the level without isolation, which only 'off' selects", () => {
    for (const isolation of ["auto", "required"] as const) {
      const accepted: ReadonlyArray<SandboxLevel> = isolation === "auto" ? acceptedLevels : namespacedLevels
      for (const works of tables) {
        const { level, status, tried } = climbing(isolation, works)
        const best = accepted.find((candidate) => works.includes(candidate))
        expect({ level, accepted: status.accepted }).toEqual({ level: best, accepted: best !== undefined })
        expect(status.level).toBe(best ?? "process")
        // Lower levels are not tried, because each attempt has to start a process.
        expect(tried).toEqual(accepted.slice(0, best === undefined ? undefined : accepted.indexOf(best) + 1))
      }
    }
    for (const works of tables) {
      const { level, status, tried } = climbing("off", works)
      expect({ level, tried }).toEqual({ level: undefined, tried: [] })
      expect(status).toMatchObject({ level: "process", accepted: true })
    }
  })

  test("the sandbox explains in one line why it rejects Runs, with the remedy", () => {
    const { status } = climbing("auto", [])
    expect(status.remedy).toBe("Mend bubblewrap.")
    expect(status.reason).toContain("landlock does not work here.")
    expect(`${status.reason} ${status.remedy}`).not.toContain("\n")
  })

  test("below the top level, the sandbox describes the change that would raise the level", () => {
    const { status } = climbing("auto", ["user_landlock"])
    expect(status.remedy).toBe("Mend bubblewrap.")
    expect(climbing("auto", ["bubblewrap"]).status.remedy).toBeUndefined()
  })
})
