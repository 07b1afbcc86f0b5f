import { Context, Duration, Effect, Layer, Random, Schema } from "effect"
import type { HttpClientError } from "effect/http"
import { elapsedSeconds, machineClocks, momentOf } from "../../runner/agent/LeaseClock.ts"
import { AgentRefusal, Busy, type Gone } from "../../schema/agent/AgentRefusal.ts"
import { AgentRuns, heldRuns } from "./AgentRuns.ts"
import { MachineFacts } from "./MachineFacts.ts"
import { AgentSession, type SessionSource, type Unanswered } from "./AgentSession.ts"

/** Reason why a message did not get the expected response. */
export type Problem = AgentRefusal | Unanswered | HttpClientError.HttpClientError

const isRefusal = Schema.is(AgentRefusal)

const shortest = 200
const longest = 10_000
const untilOperatorActs = Duration.seconds(30)
const doubled = 2

/**
 * Returns the time to wait before the next attempt. The time doubles with each attempt and includes jitter, so that agents
 * do not all retry at the same time.
 */
const backoff = (attempt: number) =>
  Random.next.pipe(
    Effect.flatMap((random) =>
      Effect.sleep(Duration.millis(Math.min(longest, shortest * doubled ** attempt) * (0.5 + random / doubled)))
    )
  )

/**
 * Treats an unreadable message as a failure of the call: a peer of another release may be unable to read the message, which
 * must not stop an agent that holds Runs.
 */
const understood = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E | Busy, R> =>
  Effect.catchDefect(call, (defect) =>
    Effect.logError("The server and this agent do not understand each other.", defect).pipe(
      Effect.andThen(new Busy({ message: "The message was not understood.", retryAfterSeconds: 5 }))
    )
  )

/** Repeats messages until they get a response. */
export class RetryUntilAnswered extends Context.Service<
  RetryUntilAnswered,
  {
    readonly until: <A, R>(call: Effect.Effect<A, Problem, R>) => Effect.Effect<A, Gone, R>
    readonly session: Effect.Effect<void>
    /**
     * Returns the number of seconds since the last message that got a response, or since the start if no message has got a
     * response.
     */
    readonly unansweredSeconds: () => number
  }
>()("svc/src/agent/RetryUntilAnswered") {
  static readonly layer = Layer.effect(
    RetryUntilAnswered,
    Effect.gen(function* () {
      const session = yield* AgentSession
      const runs = yield* AgentRuns
      const { areReplaced, facts, marks } = yield* MachineFacts
      const source: SessionSource = {
        facts,
        marks,
        held: Effect.sync(() => heldRuns(runs)),
        obey: (orders, sent) =>
          Effect.forEach(
            orders,
            (order) => (order.order === "continue" ? runs.confirm(order, sent) : runs.end(order)),
            { discard: true }
          )
      }
      let answeredSent = momentOf(machineClocks)
      let told = ""
      const tell = (message: string) =>
        Effect.suspend(() => {
          if (message === told) return Effect.void
          told = message
          return Effect.logWarning(message)
        })

      /** Waits as long as the refusal requests. Only `Gone` ends the retries. */
      const wait = Effect.fnUntraced(function* (problem: Problem, attempt: number) {
        switch (problem._tag) {
          case "Busy":
            return yield* Effect.sleep(Duration.seconds(Math.max(0.5, problem.retryAfterSeconds)))
          case "Unauthorised":
          case "UpgradeRequired":
            yield* tell(problem.message)
            return yield* problem._tag === "Unauthorised" && problem.retry
              ? backoff(attempt)
              : Effect.sleep(untilOperatorActs)
          case "Rejected":
            yield* tell(`The server refuses a message of this agent. ${problem.message}`)
            return yield* Effect.sleep(untilOperatorActs)
          case "Gone":
            return
          default:
            if (attempt > 2) yield* tell(`The server does not answer. ${problem.message}`)
            return yield* backoff(attempt)
        }
      })

      const begin = (seen: number) =>
        Effect.gen(function* () {
          for (let attempt = 0; session.generation() === seen; attempt += 1) {
            const problem = yield* Effect.flip(understood(session.begin(seen, source))).pipe(Effect.option)
            if (problem._tag === "None") {
              told = ""
              return
            }
            yield* wait(problem.value, attempt)
          }
        })

      const until = <A, R>(call: Effect.Effect<A, Problem, R>): Effect.Effect<A, Gone, R> =>
        Effect.gen(function* () {
          for (let attempt = 0; ; attempt += 1) {
            const seen = session.generation()
            if (seen === 0) yield* begin(seen)
            const current = session.generation()
            const sent = momentOf(machineClocks)
            const result = yield* Effect.result(understood(call))
            // Treat a refusal as a response.
            const isAnswered = result._tag === "Success" || isRefusal(result.failure)
            if (isAnswered && sent.boot > answeredSent.boot) answeredSent = sent
            if (result._tag === "Success") return result.success
            const problem = result.failure
            if (problem._tag === "Gone") return yield* problem
            if (problem._tag === "Unauthorised" && problem.retry) yield* begin(current)
            else yield* wait(problem, attempt)
          }
        })

      return RetryUntilAnswered.of({
        until,
        unansweredSeconds: () => elapsedSeconds(machineClocks, answeredSent),
        session: Effect.gen(function* () {
          if ((yield* session.isDue) || (yield* areReplaced)) yield* begin(session.generation())
        })
      })
    })
  )
}
