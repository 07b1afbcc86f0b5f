import { Cause, Effect } from "effect"
import { hasProperty } from "effect/Predicate"

/** Raised if a sealed value cannot be decrypted at its location. The log identifies the value. */
export const integrityFault = {
  code: "integrity_fault",
  message:
    "svc cannot decrypt a stored secret, because another program changed the database or part of it comes from another installation. svc has not used the secret. An operator can find the record in the log and with `svc doctor`. Enter the value again, or restore a backup."
} as const

/**
 * Recognises the error by its tag instead of its class, because stores raise the error as a defect, which may have passed
 * through an actor's protocol.
 */
export const isIntegrityFault = (defect: unknown): boolean =>
  hasProperty(defect, "_tag") && defect._tag === "VaultOpenFailed"

export const hasIntegrityFault = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => Cause.isDieReason(reason) && isIntegrityFault(reason.defect))

/** Continues with `instead` if a sealed value cannot be decrypted. Does not affect other defects. */
export const orOnIntegrityFault =
  <B, E2, R2>(instead: () => Effect.Effect<B, E2, R2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | B, E | E2, R | R2> =>
    Effect.catchDefect(
      effect,
      (defect): Effect.Effect<B, E2, R2> => (isIntegrityFault(defect) ? instead() : Effect.die(defect))
    )
