import { Effect, Option, Redacted } from "effect"
import { readDocument } from "../document/Documents.ts"
import { type RunRedactor, redacted } from "../redaction/RunRedactor.ts"
import { heldSecrets } from "./OutputPrivacy.ts"
import { runnerFailure } from "./RunnerFailure.ts"

const textsOf = (document: Uint8Array) => Effect.option(readDocument("texts", document))

/**
 * Refuses a plan that contains this machine's credentials: a module may have read them, and the plan file is sent to the
 * control plane. The only exception is credential text that the previous state already contained.
 */
export const refuseProvided = Effect.fnUntraced(function* (
  provided: RunRedactor,
  plan: Uint8Array,
  base: Redacted.Redacted<Uint8Array> | undefined
) {
  const texts = yield* textsOf(plan)
  if (Option.isNone(texts)) {
    return yield* runnerFailure(
      "output_unreadable",
      "show",
      "The tool's description of the plan cannot be read, so svc cannot check it for this pool's credentials."
    )
  }
  const before = base === undefined ? Option.none() : yield* textsOf(Redacted.value(base))
  const known = new Set(Option.getOrElse(before, () => []))
  const fresh = texts.value.filter((text) => !known.has(text))
  const held = yield* redacted(provided, (hide) => heldSecrets(hide, fresh))
  if (held === undefined) return
  return yield* runnerFailure(
    "plan_failed",
    "show",
    `The plan holds what this pool provides (${held.origins.join(", ") || "a secret"}), and its file would carry it to the control plane. The module must not read it. If that is no secret, such as a region or a project, the operator of the agent names it under publicNames of these credentials.`
  )
})
