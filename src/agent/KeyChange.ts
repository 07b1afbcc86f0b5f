import { Config, DateTime, Duration, Effect, Option } from "effect"
import { AgentFolder, type AgentFolderUnusable } from "../../runner/agent/AgentFolder.ts"
import type { Signer, StoredKeys } from "../../runner/agent/AgentKeyPair.ts"
import type { AgentKeys } from "../../schema/agent/AgentIdentity.ts"
import { Busy } from "../../schema/agent/AgentRefusal.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"
import { agentEnv } from "../settings/AgentVariables.ts"

const usualLifetime = "30 days"

/** Age at which the agent replaces its keys. */
export const keyLifetime = Config.Duration(agentEnv.keyLifetime).pipe(
  Config.withDefault(Duration.fromInputUnsafe(usualLifetime)),
  Effect.mapError(({ message }) => new SettingsRefused({ message }))
)

const unusable = <A>(effect: Effect.Effect<A, AgentFolderUnusable>) =>
  Effect.mapError(effect, ({ message }) => new Busy({ message, retryAfterSeconds: 10 }))

interface Problem {
  readonly _tag: string
  readonly retry?: boolean | undefined
}

/**
 * Returns true if the server refuses these keys because it does not accept them as the agent's keys, or does not do so yet.
 * A lost response or a busy server is not a refusal.
 */
const isRefused = (problem: Problem) => problem._tag === "Unauthorised" && problem.retry === false

const isRejected = (problem: Problem) => problem._tag === "Rejected"

/** Begins a session signed with these keys. `next` announces the keys that the agent will use afterwards. */
type Greet<A, E> = (signer: Signer, next: AgentKeys | undefined) => Effect.Effect<A, E>

/**
 * Replaces an agent's keys. The new keys are stored before a session signed with the current keys announces them. The
 * following session is signed with the new keys, and from then on the server uses them too. If a process dies during the
 * change, the next process finds both key pairs and tries the other pair if the first pair is refused. A server restored
 * from an older backup has the older keys; a session signed with the older keys announces the current keys.
 */
export const keyChange = Effect.gen(function* () {
  const folder = yield* AgentFolder
  const longest = Duration.toMillis(yield* keyLifetime)
  let announced: string | undefined

  /** Creates the next keys when they are due. Only the process that takes Runs does this. */
  const nextOf = Effect.fnUntraced(function* ({ madeAt }: StoredKeys, mayBegin: boolean) {
    const next = yield* folder.nextKeys
    if (Option.isSome(next) || !mayBegin) return next
    const at = yield* DateTime.now
    if (madeAt === undefined) {
      // Record only the date of the keys and do not replace them, because a draining process of the previous release keeps
      // the old keys in memory as long as it holds Runs.
      yield* folder.dateKeys(DateTime.formatIso(at))
      return next
    }
    const age = DateTime.toEpochMillis(at) - Date.parse(madeAt)
    return age > longest ? Option.some(yield* folder.prepareKeys) : next
  })

  /** `problem` explains why the current keys are refused. */
  const recovered = Effect.fnUntraced(function* <A, E extends Problem>(
    greet: Greet<A, E>,
    present: StoredKeys,
    problem: E | Busy
  ): Effect.fn.Return<A, E | Busy> {
    for (const signer of present.replaced ?? []) {
      const known = yield* greet(signer, present.public).pipe(
        Effect.as(true),
        Effect.catchIf(isRefused, () => Effect.succeed(false))
      )
      if (!known) continue
      yield* Effect.logWarning("The server has only previous keys of this agent. The agent sends its current keys.")
      return yield* greet(present, undefined)
    }
    return yield* Effect.fail(problem)
  })

  const begun = <A, E extends Problem>(
    greet: Greet<A, E>,
    { mayBegin }: { readonly mayBegin: boolean }
  ): Effect.Effect<A, E | Busy> =>
    Effect.gen(function* () {
      const present = yield* unusable(folder.keys)
      const next = yield* unusable(nextOf(present, mayBegin))
      const orRecovered = (session: Effect.Effect<A, E | Busy>) =>
        Effect.catchIf(session, isRefused, (problem) => recovered(greet, present, problem))
      if (Option.isNone(next)) {
        const answer = yield* orRecovered(greet(present, undefined))
        // Delete the former keys, because all data that was sealed for them has been decrypted by now.
        if (present.former !== undefined) yield* unusable(folder.forgetFormer)
        return answer
      }
      const { sign } = next.value.public
      // Try the current keys, because the refusal may have another cause. If they are accepted, the server has not accepted the
      // next keys yet.
      const announcing = greet(present, next.value.public).pipe(
        Effect.tap(() => Effect.sync(() => void (announced = sign))),
        Effect.catchIf(isRejected, () =>
          Effect.tap(greet(present, undefined), () => unusable(folder.dropNextKeys(next.value)))
        )
      )
      const taking = Effect.tap(greet(next.value, undefined), () =>
        unusable(folder.takeNextKeys(next.value)).pipe(
          Effect.andThen(Effect.logInfo("This agent has new keys; the former ones are not accepted any more."))
        )
      )
      return yield* orRecovered(
        announced === sign
          ? Effect.catch(taking, (problem) => {
              if (isRefused(problem)) return announcing
              // If the server also refuses the current keys, it is refusing the agent itself.
              return isRejected(problem)
                ? Effect.catchIf(announcing, isRefused, () => Effect.fail(problem))
                : Effect.fail(problem)
            })
          : Effect.catchIf(announcing, isRefused, () => taking)
      )
    })

  return { begun }
})
