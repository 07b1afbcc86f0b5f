import { Context, Effect } from "effect"
import type { ApiError } from "../../schema/errors/ApiError.ts"

/**
 * Checks again that the caller may make the request. Every outermost transaction starts with this check, because the request
 * was authorised before its body arrived, and before its command had to wait for the record and the database. Work that
 * belongs to no request needs no check.
 */
export const Readmission = Context.Reference<Effect.Effect<void, ApiError> | undefined>("svc/actors/base/Readmission", {
  defaultValue: () => undefined
})

/**
 * Raised as a defect, because the entire request must fail. A loop over several records could treat an error as the refusal
 * of one record and continue.
 */
export class AdmissionLost {
  readonly refusal: ApiError
  constructor(refusal: ApiError) {
    this.refusal = refusal
  }
}

/** Runs the check of the current request, if any, and then the effect. */
export const readmitted = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Readmission, (check) =>
    check === undefined
      ? effect
      : Effect.andThen(
          Effect.catch(check, (refusal) => Effect.die(new AdmissionLost(refusal))),
          effect
        )
  )
