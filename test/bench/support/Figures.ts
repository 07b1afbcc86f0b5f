import { Console, Effect, type Layer } from "effect"
import type { platform } from "../../../src/composition/Platform.ts"

/** One line of the result: a measurement, its target, and whether it meets the target. */
export interface Figure {
  readonly name: string
  readonly figure: number
  readonly unit: "ms" | "MB" | "x" | "/s" | "lost" | "KB" | "rows" | "statements"
  /** Absent if the figure has no target. */
  readonly target?: { readonly atMost: number } | { readonly atLeast: number }
  /** A description of the measurements from which the figure is computed. */
  readonly detail?: string
}

/** Measures figures one after another. Each measurement may fail or time out without affecting the others. */
export type Parts<E = unknown, R = Layer.Success<typeof platform>> = ReadonlyArray<{
  readonly name: string
  readonly figures: Effect.Effect<ReadonlyArray<Figure>, E, R>
}>

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2
}

export const percentile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const holds = ({ figure, target }: Figure): boolean =>
  target === undefined || ("atMost" in target ? figure <= target.atMost : figure >= target.atLeast)

const number = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)

const promise = ({ target, unit }: Figure): string =>
  target === undefined ? "" : "atMost" in target ? `<= ${target.atMost} ${unit}` : `>= ${target.atLeast} ${unit}`

/** Prints figures as they become available: name, figure, target, verdict. */
export const printFigure = (figure: Figure): Effect.Effect<void> => {
  const verdict = figure.target === undefined ? "      " : holds(figure) ? "ok    " : "MISSED"
  const value = `${number(figure.figure)} ${figure.unit}`
  const line = `${verdict}  ${figure.name.padEnd(58)} ${value.padStart(12)}  ${promise(figure).padEnd(14)}`
  return Console.log(figure.detail === undefined ? line.trimEnd() : `${line}  ${figure.detail}`)
}

/**
 * Returns the CPU time of all threads of this process, in milliseconds. Other load on the machine hardly affects this time.
 */
export const processorMillis: Effect.Effect<number> = Effect.sync(() => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1000
})
