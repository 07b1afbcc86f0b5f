import { Context, Effect } from "effect"
import type { ApiError } from "../../schema/errors/ApiError.ts"

/**
 * Checks again that the caller may make the request. Every outermost transaction begins with it, because the request was admitted
 * long before: its body arrives, and its command waits for the record and for the database. Work without a request needs no
 * check.
 */
export const Readmission = Context.Reference<Effect.Effect<void, ApiError> | undefined>("svc/actors/base/Readmission", {
  defaultValue: () => undefined
})

/**
 * A defect, because it ends the whole request: code between the transaction and the request must not take it for the refusal of one
 * record and continue.
 */
export class AdmissionLost {
  readonly refusal: ApiError
  constructor(refusal: ApiError) {
    this.refusal = refusal
  }
}

/** The effect, after the check of a request; without it outside of requests. */
export const readmitted = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Readmission, (check) =>
    check === undefined
      ? effect
      : Effect.andThen(
          Effect.catch(check, (refusal) => Effect.die(new AdmissionLost(refusal))),
          effect
        )
  )
