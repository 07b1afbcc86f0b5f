import { Effect } from "effect"
import type { SandboxLevel } from "../../schema/records/Run.ts"
import type { Level } from "./levels/Level.ts"
import type { Isolation } from "./SandboxSettings.ts"
import type { SandboxStatus } from "./SandboxStatus.ts"

/** Part of the status that describes the levels. */
export type LevelStatus = Omit<SandboxStatus, "limits">

/**
 * Result of trying a level. If the level does not work on this machine, the result contains the reason, and a remedy if
 * there is one.
 */
export type Verdict<A = Level> =
  | { readonly _tag: "works"; readonly level: A; readonly reason: string }
  | { readonly _tag: "unavailable"; readonly reason: string; readonly remedy?: string }

/** A level to try. */
export interface Rung<A = Level> {
  readonly level: SandboxLevel
  readonly attempt: Effect.Effect<Verdict<A>>
}

/** Levels that svc may choose, best first. Excludes `process`, which only the operator can choose. */
export const acceptedLevels = [
  "bubblewrap",
  "namespaces",
  "user_landlock",
  "landlock",
  "seatbelt"
] as const satisfies ReadonlyArray<SandboxLevel>

/** The levels at which a Run has its own process, mount and network namespaces. */
export const namespacedLevels = ["bubblewrap", "namespaces"] as const satisfies ReadonlyArray<SandboxLevel>

export interface Climbed<A> {
  readonly status: LevelStatus
  /** `undefined` if no allowed level works; Runs are then refused. */
  readonly level: A | undefined
}

const mayBeChosen = (isolation: Isolation): ReadonlyArray<SandboxLevel> =>
  isolation === "off" ? [] : isolation === "required" ? namespacedLevels : acceptedLevels

const fallbackRemedy = "Install the 'bubblewrap' package: see docs/operations/isolation.md."

/**
 * Tries the levels, best first, and stops at the first one that works. Never chooses a level below the accepted levels: if
 * no accepted level works, Runs are refused. Only with `off` do Runs execute without isolation.
 */
export const climb = Effect.fn("Sandbox.climb")(function* <A>(
  isolation: Isolation,
  rungs: ReadonlyArray<Rung<A>>
): Effect.fn.Return<Climbed<A>> {
  if (isolation === "off") {
    return {
      status: {
        level: "process",
        accepted: true,
        reason:
          "Run isolation is switched off: module code can read and change everything that the service can, its master key included, and can evade every limit of its Run.",
        remedy: "Set the isolation to 'auto' or 'required'."
      },
      level: undefined
    }
  }
  const missed: Array<Extract<Verdict<A>, { _tag: "unavailable" }>> = []
  for (const level of mayBeChosen(isolation)) {
    const rung = rungs.find((candidate) => candidate.level === level)
    if (rung === undefined) continue
    const verdict = yield* rung.attempt
    if (verdict._tag === "works") {
      const remedy = missed.find((miss) => miss.remedy !== undefined)?.remedy
      return {
        status: {
          level,
          accepted: true,
          reason: [verdict.reason, ...missed.map(({ reason }) => reason)].join(" "),
          ...(remedy === undefined ? {} : { remedy })
        },
        level: verdict.level
      }
    }
    missed.push(verdict)
  }
  return {
    status: {
      level: "process",
      accepted: false,
      reason: ["No level of isolation that may be chosen works here.", ...missed.map(({ reason }) => reason)].join(" "),
      remedy: missed.find((miss) => miss.remedy !== undefined)?.remedy ?? fallbackRemedy
    },
    level: undefined
  }
})
