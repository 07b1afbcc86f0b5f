import { Context, Duration, Effect, Layer, Option, Schema, Stream } from "effect"
import type { CreateInstallPlan } from "../../../schema/api/InstallPlansApi.ts"
import { InstallPlan } from "../../../schema/records/InstallPlan.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { type Once, onceHeaders } from "../Once.ts"
import { SvcClient } from "../SvcClient.ts"
import { type Answer, answered, type Items } from "../SvcError.ts"
import { Runs } from "./Runs.ts"

/** The install did not reach a plan to review. `installPlan.diagnostics` says why. */
export class InstallFailed extends Schema.TaggedError<InstallFailed>()("InstallFailed", {
  message: Schema.String,
  installPlan: InstallPlan
}) {}

export interface InstallPlansShape {
  /** Prepares a Source through scan and check to a plan of a new Capsule. The service advances by itself. */
  readonly create: (workspaceId: string, request: CreateInstallPlan, once?: Once) => Answer<InstallPlan>
  readonly get: (id: string) => Answer<InstallPlan>
  /** The install now, and again whenever it has moved on, until it is reviewable or has failed. */
  readonly changes: (id: string) => Items<InstallPlan>
  /** The Run to review, once the install has come to it. Fails with `InstallFailed` if it does not. */
  readonly awaitPlan: (id: string) => Answer<Run, InstallFailed>
}

const firstWait = Duration.millis(50)
const longestWait = Duration.seconds(1)

/** Between two looks: how often nothing was new, and the Run that was followed to its end. */
interface Looked {
  readonly seen: InstallPlan | undefined
  readonly idle: number
  readonly followed: string | undefined
}

const sameStep = (one: InstallPlan | undefined, other: InstallPlan): boolean =>
  one !== undefined &&
  one.phase === other.phase &&
  one.nextAction === other.nextAction &&
  one.updatedAt === other.updatedAt &&
  runOf(one) === runOf(other)

/** The Run that moves the install on. */
const runOf = ({ compatibilityCheckRunId, planRunId, syncRunId }: InstallPlan): string | undefined =>
  planRunId ?? compatibilityCheckRunId ?? syncRunId

const make = Effect.gen(function* () {
  const { installPlans } = yield* SvcClient
  const runs = yield* Runs

  const get: InstallPlansShape["get"] = (id) =>
    Effect.map(answered(installPlans.read({ params: { installPlanId: id } })), ({ installPlan }) => installPlan)

  /** Until something may be new: the end of the Run that the install waits for, or else a moment. */
  const pause = ({ followed, idle, seen }: Looked) => {
    if (seen === undefined) return Effect.undefined
    const running = runOf(seen)
    if (running !== undefined && running !== followed) {
      return runs.events(running).pipe(
        Stream.takeUntil(({ kind }) => kind === "run.waiting_approval"),
        Stream.runDrain,
        Effect.as(running)
      )
    }
    return Effect.as(
      Effect.sleep(Duration.min(Duration.times(firstWait, 2 ** Math.min(idle, 8)), longestWait)),
      followed
    )
  }

  const changes: InstallPlansShape["changes"] = (id) => {
    const start: Looked = { seen: undefined, idle: 0, followed: undefined }
    return Stream.paginate(
      start,
      Effect.fnUntraced(function* (looked: Looked) {
        const followed = yield* pause(looked)
        const plan = yield* get(id)
        const isSame = sameStep(looked.seen, plan)
        const next: Looked = { seen: plan, idle: isSame ? looked.idle + 1 : 0, followed }
        return [isSame ? [] : [plan], plan.nextAction === "reconcile" ? Option.some(next) : Option.none()] as const
      })
    )
  }

  return InstallPlans.of({
    get,
    changes,
    create: (workspaceId, request, once = {}) =>
      Effect.flatMap(onceHeaders(once), (headers) =>
        Effect.map(
          answered(installPlans.create({ params: { workspaceId }, headers, payload: request })),
          ({ installPlan }) => installPlan
        )
      ),
    awaitPlan: Effect.fn("InstallPlans.awaitPlan")(function* (id: string) {
      const installPlan = Option.getOrThrow(yield* Stream.runLast(changes(id)))
      const { diagnostics, phase, planRunId } = installPlan
      if (phase !== "failed" && planRunId !== undefined) return yield* runs.get(planRunId)
      const reasons = diagnostics.map(({ message }) => message).join(" ")
      return yield* new InstallFailed({ message: reasons === "" ? "The install failed." : reasons, installPlan })
    })
  })
})

/** Installs on their way to a plan that can be reviewed. */
export class InstallPlans extends Context.Service<InstallPlans, InstallPlansShape>()("svc/client/InstallPlans") {
  static readonly layer: Layer.Layer<InstallPlans, never, SvcClient | Runs> = Layer.effect(InstallPlans, make)
}
