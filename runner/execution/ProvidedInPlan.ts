import { Effect, Redacted, Schema } from "effect"
import { type RunRedactor, redacted } from "../redaction/RunRedactor.ts"
import { heldSecrets } from "./OutputPrivacy.ts"
import { runnerFailure } from "./RunnerFailure.ts"

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))

const originsIn = Effect.fnUntraced(function* (provided: RunRedactor, text: string) {
  const value = decodeJson(text)
  if (value._tag === "None") return undefined
  return (yield* redacted(provided, (hide) => heldSecrets(hide, value.value)))?.origins
})

/**
 * Refuses a plan that holds credentials of this machine: a module may have read them, and its plan file goes to the control plane. What the
 * state held before is there already.
 */
export const refuseProvided = Effect.fnUntraced(function* (
  provided: RunRedactor,
  plan: string,
  base: Redacted.Redacted<Uint8Array> | undefined
) {
  const found = yield* originsIn(provided, plan)
  if (found === undefined) return
  const before =
    base === undefined ? [] : ((yield* originsIn(provided, new TextDecoder().decode(Redacted.value(base)))) ?? [])
  const origins = found.filter((origin) => !before.includes(origin))
  if (found.length > 0 && origins.length === 0) return
  return yield* runnerFailure(
    "plan_failed",
    "show",
    `The plan holds what this pool provides (${origins.join(", ") || "a secret"}), and its file would carry it to the control plane. The module must not read it. What is no secret belongs into the Connection's providerConfig, not among what the pool provides.`
  )
})
