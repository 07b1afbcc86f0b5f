import { join } from "node:path"
import { expect } from "bun:test"
import { Duration, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { SqlClient } from "effect/sql"
import { AgentSessions } from "../../../../actors/running/agent-pool/AgentSessions.ts"
import { ServerKeys } from "../../../../actors/running/agent-pool/ServerKeys.ts"
import { AgentFolder } from "../../../../runner/agent/AgentFolder.ts"
import { signedBy, type StoredKeys } from "../../../../runner/agent/AgentKeyPair.ts"
import { AgentParty, agentParty } from "../../../../runner/agent/AgentParty.ts"
import { helloText } from "../../../../schema/agent/AgentProtocol.ts"
import type { AgentFacts } from "../../../../schema/agent/AgentIdentity.ts"
import { AgentSession, type SessionSource } from "../../../../src/agent/AgentSession.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import { world } from "./FarPlane.ts"
import { agentClient, machineFacts } from "./TestAgent.ts"

/**
 * Creates an enrolled agent's folder on disk, and returns steps of the agent's processes. Each step runs as if its process
 * had just started.
 */
export const enrolledFolder = Effect.gen(function* () {
  const { origin, pools } = yield* world
  const path = join(yield* temporaryFolder, "agent")
  const inFolder = <A, E, R>(effect: Effect.Effect<A, E, R | AgentFolder>) =>
    Effect.provide(effect, AgentFolder.layerAt(path))
  const folder = yield* inFolder(AgentFolder)
  const keys = yield* folder.keys
  const { secret } = yield* pools.token("far", { uses: 1, lifetime: Duration.hours(1) })
  const client = yield* agentClient(origin)
  const enrolled = yield* client.Enrol({ token: secret, name: "one", keys: keys.public, facts: machineFacts })
  yield* folder.keepIdentity({
    version: 1,
    server: origin,
    serverKeys: enrolled.server,
    installationId: enrolled.installationId,
    agentId: enrolled.agentId,
    pool: enrolled.pool
  })
  const { agentId, installationId } = enrolled

  /** Starts this many sessions in one process. */
  const process = (sessions: number, between: Effect.Effect<unknown> = Effect.void, facts: AgentFacts = machineFacts) =>
    inFolder(
      Effect.gen(function* () {
        const identity = yield* folder.identity
        if (identity._tag === "None") return yield* Effect.die(new Error("not enrolled"))
        const source: SessionSource = {
          facts: Effect.succeed(facts),
          marks: Effect.succeed([]),
          held: Effect.succeed([]),
          obey: () => Effect.void
        }
        yield* Effect.gen(function* () {
          const session = yield* AgentSession
          for (let count = 0; count < sessions; count += 1) {
            if (count === 1) yield* between
            yield* session.begin(session.generation(), source)
          }
        }).pipe(
          Effect.provide(
            AgentSession.layer.pipe(
              Layer.provide(Layer.effect(AgentParty, agentParty(identity.value, folder))),
              Layer.provide(FetchHttpClient.layer)
            )
          )
        )
      })
    )

  /** Sends a first message signed with these keys. */
  const hello = Effect.fnUntraced(function* (signer: StoredKeys, next?: StoredKeys) {
    const { nonce } = yield* client.Challenge({ agentId })
    const nextKeys = next?.public
    const { incarnation } = machineFacts
    const signature = yield* signedBy(signer, helloText({ agentId, incarnation, nonce, installationId, nextKeys }))
    return yield* client.Hello({
      agentId,
      nonce,
      signature,
      facts: machineFacts,
      held: [],
      ...(nextKeys === undefined ? {} : { nextKeys })
    })
  })

  /**
   * Sends a first message signed with these keys, and runs the effect after the signature is verified and before the session is
   * recorded.
   */
  const slowHello = Effect.fnUntraced(function* (signer: StoredKeys, meanwhile: Effect.Effect<unknown>) {
    const slowKeys = Layer.effect(
      ServerKeys,
      Effect.map(ServerKeys, ({ own }) => ServerKeys.of({ own: Effect.andThen(meanwhile, own) }))
    ).pipe(Layer.provide(Layer.fresh(ServerKeys.layer)))
    return yield* Effect.gen(function* () {
      const sessions = yield* AgentSessions
      const { nonce } = yield* sessions.challenge(agentId)
      const { incarnation } = machineFacts
      const said = helloText({ agentId, incarnation, nonce, installationId, nextKeys: undefined })
      return yield* sessions.begin({ agentId, nonce, signature: yield* signedBy(signer, said), facts: machineFacts })
    }).pipe(Effect.provide(Layer.fresh(AgentSessions.layer).pipe(Layer.provide(slowKeys)), { local: true }))
  })

  const atServer = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ sign_key: string; seal_key: string }>`SELECT sign_key, seal_key FROM agents WHERE id = ${agentId}`
  )
  return { agentId, atServer, folder, hello, keys, path, process, slowHello }
})

/** Checks that the server and the agent have exactly these keys, and that the former keys cannot start a session. */
export const settledOn = Effect.fnUntraced(function* (
  { atServer, folder, hello, keys }: Effect.Success<typeof enrolledFolder>,
  next: StoredKeys
) {
  const present = yield* folder.keys
  expect(present.public).toEqual(next.public)
  expect(yield* atServer).toEqual([{ sign_key: next.public.sign, seal_key: next.public.seal }])
  expect((yield* folder.nextKeys)._tag).toBe("None")
  expect(yield* Effect.flip(hello(keys))).toMatchObject({ _tag: "Unauthorised", retry: false })
})

/** Checks that the server and the agent still have the first keys, and no next keys. */
export const settledOnOwn = Effect.fnUntraced(function* ({
  atServer,
  folder,
  keys
}: Effect.Success<typeof enrolledFolder>) {
  expect((yield* folder.keys).public).toEqual(keys.public)
  expect(yield* atServer).toEqual([{ sign_key: keys.public.sign, seal_key: keys.public.seal }])
  expect((yield* folder.nextKeys)._tag).toBe("None")
})
