import { Console, Effect, Schedule } from "effect"
import { percentile } from "../bench/support/Figures.ts"
import type { Answer, Target } from "./Target.ts"

/** An attack on a running server. `run` returns the number of attempts, and fails if an attempt succeeded. */
export interface Attack {
  readonly name: string
  /** If `isShort` is true, the attack makes the fewest attempts that can still reveal a fault. */
  readonly run: (target: Target, isShort: boolean) => Effect.Effect<number, unknown>
}

/** The longest time, in milliseconds, that the main thread may be blocked. */
const longestBlock = 250
/** Resident memory must fall below this multiple of its idle size. */
const mostMemory = 2
const often = Schedule.spaced("250 millis")
const longPatience = 60
/** The short form records the memory of each attack, but waits for the memory to shrink only after the last attack. */
const shortPatience = 1

export interface Idle {
  readonly p99: number
  readonly resident: number
}

const p99 = (answers: ReadonlyArray<Answer>) =>
  percentile(
    answers.map(({ millis }) => millis),
    0.99
  )

/** Measures the bystander's waiting times and the server's memory while there is no attack. */
export const idleOf = Effect.fnUntraced(function* (target: Target, seconds: number) {
  const since = yield* target.now
  yield* Effect.sleep(`${seconds} seconds`)
  yield* target.blocked
  const idle: Idle = { p99: p99(target.answersSince(since)), resident: yield* target.resident }
  return idle
})

/**
 * Waits until resident memory is below the limit or the timeout has elapsed. Returns the memory as a multiple of its idle
 * size.
 */
const memoryWithin = Effect.fnUntraced(function* (target: Target, idle: Idle, seconds: number) {
  const memory = Effect.map(target.resident, (resident) => resident / idle.resident)
  yield* Effect.repeat(memory, {
    until: (times) => times < mostMemory,
    schedule: often.pipe(Schedule.upTo({ duration: `${seconds} seconds` }))
  })
  return yield* memory
})

/** Prints the memory after the last attack, and returns true if the memory falls below its limit. */
export const memoryReturns = Effect.fnUntraced(function* (target: Target, idle: Idle) {
  const times = yield* memoryWithin(target, idle, longPatience)
  yield* Console.log(
    `${times < mostMemory ? "\n" : "\nFAILED: "}Memory is ${times.toFixed(2)} times its idle size in the end`
  )
  return times < mostMemory
})

const columns = [44, 9, 8, 11, 12, 9, 18] as const
const row = (cells: ReadonlyArray<string>) =>
  cells.map((cell, index) => (index === 0 ? cell.padEnd(columns[0]) : cell.padStart(columns[index] ?? 0))).join("  ")

export const heading = row(["attack", "attempts", "seconds", "blocked ms", "p99 ratio", "refused", "memory x (after)"])

/** Runs an attack, prints its line of the table, and returns the limits that it exceeded. */
export const measured = Effect.fnUntraced(function* (target: Target, idle: Idle, attack: Attack, isShort: boolean) {
  yield* target.blocked
  const since = yield* target.now
  const result = yield* Effect.result(attack.run(target, isShort))
  const ended = yield* target.now
  // The server can report a blocked thread only after the thread runs again, and the bystander's last responses may still be
  // in transit.
  yield* Effect.sleep("300 millis")
  const blocked = yield* target.blocked
  const answers = target.answersSince(since)
  const times = yield* memoryWithin(target, idle, isShort ? shortPatience : longPatience)
  const seconds = ((yield* target.now) - ended) / 1000
  const failed = answers.filter(({ status }) => status !== 200)
  const faults = [
    ...(result._tag === "Failure" ? [String(result.failure)] : []),
    ...(blocked <= longestBlock ? [] : [`the main thread was blocked for ${blocked.toFixed(0)} ms`]),
    ...(times < mostMemory || isShort
      ? []
      : [`memory is ${times.toFixed(1)} times its idle size after ${seconds.toFixed(0)} s`]),
    ...(failed.length === 0 ? [] : [`${failed.length} answers to the bystander: ${failed[0]?.status}`])
  ]
  yield* Console.log(
    row([
      attack.name,
      result._tag === "Failure" ? "-" : String(result.success),
      ((ended - since) / 1000).toFixed(1),
      blocked.toFixed(0),
      `${(p99(answers) / idle.p99).toFixed(1)}`,
      String(failed.length),
      `${times.toFixed(2)} (${seconds.toFixed(1)} s)`
    ])
  )
  for (const fault of faults) yield* Console.log(`    FAILED: ${fault}`)
  return faults
})
