import type { Kill } from "./CrashHost.ts"
import type { JourneyName } from "./Journey.ts"

/** A process started by a server. */
export type Victim = "tool" | "plugin" | "sandbox" | "sync"

/** Where the work is held, so that a process certainly exists to be killed. */
export type Stage = "sync" | "plan" | "apply" | "destroy"

/**
 * A process is killed while the work of a stage is held. `point`: the server dies on its own there, at its kill point.
 */
export interface Hunt {
  readonly victim: Victim | "server" | "point"
  readonly stage: Stage
}

/** A process is killed this many milliseconds after the journey began, if one exists then. */
export interface Strike {
  readonly victim: Victim
  readonly millis: number
}

/** The faults injected into one journey. */
export interface Scenario {
  readonly name: string
  readonly journey: JourneyName
  readonly kills: ReadonlyArray<Kill>
  readonly hunt?: Hunt
  readonly strikes?: ReadonlyArray<Strike>
  readonly isolation?: "auto" | "off"
  /** The disk is full for a while once something was created. */
  readonly diskFull?: true
  /** The operator has the module checked after each apply. */
  readonly checked?: true
  /** Every kill has to happen, or the scenario tested nothing. */
  readonly mustKill: boolean
}

/** Whether Runs may end for a reason other than the server's death. */
export const mayFail = ({ diskFull, hunt, strikes }: Scenario): boolean =>
  diskFull === true ||
  (hunt !== undefined && hunt.victim !== "server" && hunt.victim !== "point") ||
  strikes !== undefined
