import { Effect, Option, Stream } from "effect"
import type { NextAction } from "../../../schema/records/InstallPlan.ts"
import type { Run } from "../../../schema/records/Run.ts"
import type { Answer, Items } from "../SvcError.ts"
import type { RunsShape } from "./Runs.ts"

/** A process, such as an install, that the server advances through several Runs until it has a plan for review. */
interface Progressing {
  readonly phase: string
  readonly nextAction: NextAction
  readonly updatedAt: string
  readonly syncRunId?: string
  readonly compatibilityCheckRunId?: string
  readonly planRunId?: string
  readonly diagnostics: ReadonlyArray<{ readonly message: string }>
}

const firstWait = 50
const longestWait = 1000

/**
 * The state between two polls: the number of consecutive polls that found no change, and the Run that has been followed to
 * its end.
 */
interface Looked<P> {
  readonly seen: P | undefined
  readonly idle: number
  readonly followed: string | undefined
}

const sameStep = (one: Progressing | undefined, other: Progressing): boolean =>
  one !== undefined &&
  one.phase === other.phase &&
  one.nextAction === other.nextAction &&
  one.updatedAt === other.updatedAt &&
  runOf(one) === runOf(other)

/** Returns the Run that advances the process. */
const runOf = ({ compatibilityCheckRunId, planRunId, syncRunId }: Progressing): string | undefined =>
  planRunId ?? compatibilityCheckRunId ?? syncRunId

/** Follows a process to its plan. If the process ends without a plan for review, `failure` builds the error. */
export const planProgress = <P extends Progressing, E>(
  runs: RunsShape,
  get: (id: string) => Answer<P>,
  failure: (message: string, ended: P) => E
) => {
  /** Waits until the awaited Run ends. If there is no awaited Run, waits for a short time. */
  const pause = ({ followed, idle, seen }: Looked<P>) => {
    if (seen === undefined) return Effect.undefined
    const running = runOf(seen)
    if (running !== undefined && running !== followed) {
      return runs.events(running).pipe(
        Stream.takeUntil(({ kind }) => kind === "run.waiting_approval"),
        Stream.runDrain,
        Effect.as(running)
      )
    }
    return Effect.as(Effect.sleep(Math.min(firstWait * 2 ** idle, longestWait)), followed)
  }

  const changes = (id: string): Items<P> => {
    const start: Looked<P> = { seen: undefined, idle: 0, followed: undefined }
    return Stream.paginate(start, (looked) =>
      Effect.flatMap(pause(looked), (followed) =>
        Effect.map(get(id), (plan) => {
          const isSame = sameStep(looked.seen, plan)
          const next: Looked<P> = { seen: plan, idle: isSame ? looked.idle + 1 : 0, followed }
          return [isSame ? [] : [plan], plan.nextAction === "reconcile" ? Option.some(next) : Option.none()] as const
        })
      )
    )
  }

  const waitFor = (id: string): Answer<Run, E> =>
    Effect.flatMap(Stream.runLast(changes(id)), (last): Answer<Run, E> => {
      const plan = Option.getOrThrow(last)
      const { diagnostics, nextAction, phase, planRunId } = plan
      if (phase !== "failed" && nextAction !== "plan_again" && planRunId !== undefined) return runs.get(planRunId)
      const reasons = diagnostics.map(({ message }) => message).join(" ")
      return Effect.fail(failure(reasons === "" ? "There is no plan to review." : reasons, plan))
    })

  return { changes, waitFor }
}
