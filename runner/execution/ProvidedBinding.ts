import { scrypt } from "node:crypto"
import { Effect, Redacted } from "effect"
import type { ProvidedSet } from "./ProvidedCredentials.ts"
import type { ProvidedBinding } from "./RunJob.ts"

/**
 * Cost of the digest. It is deliberately slow: the control plane stores the digest, and must not be able to derive a short
 * value from it by guessing.
 */
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 }
const digestBytes = 32

/**
 * Identifies a set of credentials by everything that a provider receives, regardless of the order. If the set has a label,
 * the label replaces values and contents, but never names.
 */
export const identityOf = ({ files, label, values }: ProvidedSet): string =>
  JSON.stringify([
    Object.entries(values)
      .map(([name, value]) => JSON.stringify([name, label === undefined ? Redacted.value(value) : null]))
      .toSorted(),
    files
      .map(({ content, envName, name }) => {
        const bytes = label === undefined ? Buffer.from(Redacted.value(content)).toString("base64") : null
        return JSON.stringify([name, envName ?? null, bytes])
      })
      .toSorted(),
    ...(label === undefined ? [] : [label])
  ])

const slowDigest = (text: string, salt: ReadonlyArray<string>) =>
  Effect.callback<string>((resume) => {
    scrypt(text, JSON.stringify(salt), digestBytes, cost, (error, digest) =>
      // Bun returns `undefined` where Node returns `null`.
      resume(error instanceof Error ? Effect.die(error) : Effect.succeed(digest.toString("base64url")))
    )
  })

/** Salts the digest with the plan, so that equal digests do not reveal which Runs used the same values. */
const digestOf = (name: string, set: ProvidedSet, planDigest: string) => slowDigest(identityOf(set), [planDigest, name])

/** Computes a `ProvidedMark`. `place` identifies the installation and its pool. */
export const providedMark = (name: string, set: ProvidedSet, place: ReadonlyArray<string>) =>
  slowDigest(identityOf(set), ["svc-provided-mark-v1", ...place, name])

/** Binds a plan to the credentials of this machine that were used to create it. */
export const providedBindings = (
  sets: ReadonlyMap<string, ProvidedSet>,
  planDigest: string
): Effect.Effect<ReadonlyArray<ProvidedBinding>> =>
  Effect.forEach([...sets], ([name, set]) =>
    Effect.map(digestOf(name, set, planDigest), (digest) => ({
      name,
      digest,
      ...(set.mark === undefined ? {} : { mark: set.mark })
    }))
  )

/** A reviewed plan and its bindings. */
export interface ReviewedPlan {
  readonly planDigest: string
  readonly bindings: ReadonlyArray<ProvidedBinding>
}

/**
 * Returns the reason why this machine's current credentials differ from those of the reviewed plan, or `undefined` if they match.
 */
export const bindingProblem = Effect.fnUntraced(function* (
  sets: ReadonlyMap<string, ProvidedSet>,
  { bindings, planDigest }: ReviewedPlan
) {
  const present = new Map((yield* providedBindings(sets, planDigest)).map(({ digest, name }) => [name, digest]))
  const planned = new Map(bindings.map(({ digest, name }) => [name, digest]))
  const changed = [...new Set([...present.keys(), ...planned.keys()])].filter(
    (name) => present.get(name) !== planned.get(name)
  )
  return changed.length === 0
    ? undefined
    : `The plan was not made with the credentials ${changed.join(", ")} that this agent has now: they were replaced, or another agent has others. Plan again.`
})
