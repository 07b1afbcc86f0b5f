import type { Kill } from "./CrashHost.ts"
import type { JourneyName } from "./Journey.ts"

/** A process that a server starts. */
export type Victim = "tool" | "plugin" | "sandbox" | "sync"

/** Where the work is held, so that a process is surely there to be killed. */
export type Stage = "sync" | "plan" | "apply" | "destroy"

/** A process is killed while the work of a stage is held. `point`: the server dies by itself there, at its kill point. */
export interface Hunt {
  readonly victim: Victim | "server" | "point"
  readonly stage: Stage
}

/** A process is killed so many milliseconds after the journey began, when there is one then. */
export interface Strike {
  readonly victim: Victim
  readonly millis: number
}

/** What is made to go wrong on one journey. */
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
  /** Every kill has to happen, else the scenario tested nothing. */
  readonly mustKill: boolean
}

/** Whether Runs may end for another reason than that the server died. */
export const mayFail = ({ diskFull, hunt, strikes }: Scenario): boolean =>
  diskFull === true ||
  (hunt !== undefined && hunt.victim !== "server" && hunt.victim !== "point") ||
  strikes !== undefined
