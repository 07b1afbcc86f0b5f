import { Deferred, Effect, type Scope } from "effect"

/** A request to stop a run. It applies to all phases of the run. */
export interface CancelSignal {
  readonly isRequested: Effect.Effect<boolean>
  readonly requested: Effect.Effect<void>
}

/** A signal that never fires, for steps that record finished work. */
export const notCancelled: CancelSignal = { isRequested: Effect.succeed(false), requested: Effect.never }

/** Listens to a job's `cancel` until the scope closes. */
export const listenForCancel = Effect.fnUntraced(function* (
  cancel: Effect.Effect<void>
): Effect.fn.Return<CancelSignal, never, Scope.Scope> {
  const requested = yield* Deferred.make<void>()
  yield* cancel.pipe(
    Effect.andThen(Deferred.succeed(requested, undefined)),
    Effect.forkScoped({ startImmediately: true })
  )
  return { isRequested: Deferred.isDone(requested), requested: Deferred.await(requested) }
})
