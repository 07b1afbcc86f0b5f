import { Effect, Redacted } from "effect"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { awaitAnswer, checkedUrl } from "../../../runner/probe/AwaitedAnswer.ts"
import { HttpProbe } from "../../../runner/probe/HttpProbe.ts"
import type { CheckTarget, Lifecycle, PostApplyCheck } from "../../../schema/policy/PostApplyCheck.ts"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import type { PostApplyResult } from "../../../schema/records/Run.ts"
import { Endpoints } from "../../inputs/delivery/Endpoints.ts"
import type { RunControl } from "./RunExecution.ts"
import type { PostApplyOutcome } from "./ApplyConclusion.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"

const notRun = ({ name }: PostApplyCheck): PostApplyResult => ({ name, status: "not_run", attempts: 0 })

const whatToDo =
  "State and Outputs of the apply are committed, and the Capsule stays in error. Correct what the check meets and plan again, or have the operator correct the check; an apply that passes it makes the Capsule active."

/**
 * The outcome of checks that a shutdown interrupted or a person stopped. Such checks prove nothing about the applied
 * changes.
 */
export const interruptedChecks = (checks: Lifecycle | undefined): PostApplyOutcome => ({
  results: (checks?.postApply ?? []).map(notRun),
  problem: {
    code: "lifecycle_interrupted",
    message: `The service ended before the checks after this apply had passed. ${whatToDo}`
  }
})

/** Runs the operator's checks after an apply, once its state is committed. */
export const makePostApplyChecks = Effect.gen(function* () {
  const capsules = yield* CapsuleLedger
  const states = yield* StateVersions
  const endpoints = yield* Endpoints
  const policy = yield* GitPolicy
  const probe = yield* HttpProbe

  const outputOf = Effect.fnUntraced(function* (capsule: CapsuleRow, name: string) {
    const rows =
      capsule.current_state_version_id === null ? [] : yield* states.outputs(capsule.current_state_version_id)
    const row = rows.find((candidate) => candidate.name === name && candidate.sensitive === 0)
    const value = row === undefined ? undefined : Redacted.value(yield* states.outputValue(row))
    return typeof value === "string" ? value : undefined
  })

  const addressOf = Effect.fnUntraced(function* (capsule: CapsuleRow, target: CheckTarget) {
    if ("output" in target) return yield* outputOf(capsule, target.output)
    const assigned = yield* Effect.option(endpoints.resolve(capsule))
    return assigned._tag === "Some" ? assigned.value.url : (capsule.public_endpoint ?? undefined)
  })

  const missing = (target: CheckTarget) =>
    "output" in target
      ? `the apply left no public Output ${target.output} that holds an http address`
      : "the Capsule has no endpoint: the operator has assigned none, and the module puts none into a public Output"

  const make = Effect.fnUntraced(function* (capsule: CapsuleRow, check: PostApplyCheck) {
    const address = yield* addressOf(capsule, check.target)
    const url = address === undefined ? undefined : checkedUrl(address, check.path)
    if (url !== undefined) return yield* awaitAnswer(check, url)
    const result: PostApplyResult = { name: check.name, status: "failed", attempts: 0, reason: missing(check.target) }
    return result
  })

  return Effect.fn("Capsule.postApplyChecks")(function* (
    capsuleId: CapsuleId,
    { postApply }: Lifecycle,
    control: Pick<RunControl, "sink" | "cancelRequested">
  ): Effect.fn.Return<PostApplyOutcome> {
    const capsule = yield* capsules.find(capsuleId)
    if (capsule === undefined) return yield* Effect.die(new Error(`Capsule ${capsuleId} is gone`))
    const { cancelRequested, sink } = control
    yield* sink.event("run.phase", { phase: "check" })
    const results: Array<PostApplyResult> = []
    for (const [index, check] of postApply.entries()) {
      yield* sink.log("check", "system", `Check ${check.name}: waiting for the expected answer.`)
      const result = yield* make(capsule, check).pipe(
        Effect.provideService(GitPolicy, policy),
        Effect.provideService(HttpProbe, probe),
        Effect.raceFirst(
          Effect.as(cancelRequested, {
            name: check.name,
            status: "failed",
            attempts: 0,
            reason: "it was stopped before it had passed"
          } satisfies PostApplyResult)
        )
      )
      results.push(result)
      if (result.status === "passed") {
        yield* sink.log("check", "system", `Check ${check.name}: passed.`)
        continue
      }
      const message = `The check ${check.name} after this apply failed: ${result.reason ?? "it did not pass"}. ${whatToDo}`
      yield* sink.log("check", "system", message)
      return {
        results: [...results, ...postApply.slice(index + 1).map(notRun)],
        problem: { code: "lifecycle_failed", message }
      }
    }
    return { results }
  })
})
