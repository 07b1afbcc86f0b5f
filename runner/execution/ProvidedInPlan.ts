import { Effect, Option, Redacted, Schema } from "effect"
import { type RunRedactor, redacted } from "../redaction/RunRedactor.ts"
import { withNumbersAsText } from "./ExactNumbers.ts"
import { heldSecrets } from "./OutputPrivacy.ts"
import { runnerFailure } from "./RunnerFailure.ts"

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))

/** Each string, number and key in a document, without duplicates; numbers keep all their digits. */
const textsIn = (document: string): Option.Option<ReadonlySet<string>> =>
  Option.map(decodeJson(withNumbersAsText(document)), (root) => {
    const found = new Set<string>()
    const open: Array<Schema.Json> = [root]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (typeof next === "string") found.add(next)
      else if (Array.isArray(next)) for (const member of next) open.push(member)
      else if (typeof next === "object" && next !== null) {
        for (const [key, member] of Object.entries(next)) {
          found.add(key)
          open.push(member)
        }
      }
    }
    return found
  })

/**
 * Refuses a plan that contains credentials from this machine: a module may have read them, and its plan file goes to the control
 * plane. Text that was already in the previous state is accepted; other text from the same credentials is not.
 */
export const refuseProvided = Effect.fnUntraced(function* (
  provided: RunRedactor,
  plan: string,
  base: Redacted.Redacted<Uint8Array> | undefined
) {
  const texts = textsIn(plan)
  if (Option.isNone(texts)) {
    return yield* runnerFailure(
      "output_unreadable",
      "show",
      "The tool's description of the plan cannot be read, so nobody knows whether it holds what this pool provides."
    )
  }
  const before = base === undefined ? Option.none() : textsIn(new TextDecoder().decode(Redacted.value(base)))
  const known = Option.getOrElse(before, (): ReadonlySet<string> => new Set())
  const fresh = [...texts.value].filter((text) => !known.has(text))
  const held = yield* redacted(provided, (hide) => heldSecrets(hide, fresh))
  if (held === undefined) return
  return yield* runnerFailure(
    "plan_failed",
    "show",
    `The plan holds what this pool provides (${held.origins.join(", ") || "a secret"}), and its file would carry it to the control plane. The module must not read it. If that is no secret, such as a region or a project, the operator of the agent names it under publicNames of these credentials.`
  )
})
