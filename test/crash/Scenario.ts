import type { Kill } from "./CrashHost.ts"
import type { JourneyName } from "./Journey.ts"

/** Kinds of processes that a server starts. */
export type Victim = "tool" | "plugin" | "sandbox" | "sync"

/** The stage at which work is held, which ensures that a process to kill exists. */
export type Stage = "sync" | "plan" | "apply" | "destroy"

/** A process to kill while a stage is paused. `point`: the kill point at which the server kills itself. */
export interface Hunt {
  readonly victim: Victim | "server" | "point"
  readonly stage: Stage
}

/** A process to kill this many milliseconds after the journey started, if such a process exists at that time. */
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
  /** The disk is full for a while after the first creation. */
  readonly diskFull?: true
  /** True if the operator configured checks after each apply. */
  readonly checked?: true
  /** Every kill must happen; otherwise the scenario tests nothing. */
  readonly mustKill: boolean
}

/** Returns true if Runs may fail for reasons other than the server being killed. */
export const mayFail = ({ diskFull, hunt, strikes }: Scenario): boolean =>
  diskFull === true ||
  (hunt !== undefined && hunt.victim !== "server" && hunt.victim !== "point") ||
  strikes !== undefined
