import { describe, expect } from "bun:test"
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { Members } from "../../../actors/access/member/Members.ts"
import { Workspaces } from "../../../actors/ledger/workspace/Workspaces.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { authenticatorLayer } from "../../../src/accounts/AuthenticatorLayer.ts"
import { AuthorityChanges } from "../../../src/streams/AuthorityChanges.ts"
import { RecheckInterval } from "../../../src/streams/LiveSubscription.ts"
import { as, testAccounts, text } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import { Journal } from "../http/support/FakeRunStreams.ts"
import { applicationOver, live as streams } from "../http/support/TestApplication.ts"
import { openSocket, TestServer } from "../http/support/TestServer.ts"
import { seed, world } from "../http/support/World.ts"

// Periodic rechecks are off, so only the commit of a revocation can end a stream in these tests.
const server = TestServer.layer.pipe(
  Layer.provideMerge(applicationOver(authenticatorLayer)),
  Layer.provideMerge(Layer.effectDiscard(seed)),
  Layer.provideMerge(streams),
  Layer.provideMerge(testAccounts),
  Layer.provideMerge(NodeCrypto.layer),
  Layer.provideMerge(Layer.succeed(RecheckInterval, "1 hour"))
)

const live = (name: string, body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof server> | Scope.Scope>) =>
  it.live(name, () => Effect.suspend(body).pipe(Effect.provide(server)))

const events = `/api/v1/runs/${world.runId}/events`
const ada = as(world.ada)
const inA = { workspaceId: WorkspaceId.make(world.workspaceA), acting: { subject: world.ada } }

const sessionOf = (subject: string) =>
  Effect.flatMap(Sessions, (sessions) => sessions.open({ subject, method: "password" }))

/** Opens a live stream for the session's owner, and waits until it has received everything so far. */
const following = Effect.fnUntraced(function* (headers: Record<string, string>) {
  const socket = yield* openSocket(events, headers)
  yield* socket.messages(1)
  return socket
})

const bySession = (secret: Parameters<typeof text>[0]) => ({ "x-svc-account-session": text(secret) })

const revocations: ReadonlyArray<
  readonly [
    name: string,
    code: number,
    revoke: (sessionId: string) => Effect.Effect<unknown, unknown, Sessions | Members | SqlClient.SqlClient>
  ]
> = [
  ["the session is revoked", 4401, (id) => Effect.flatMap(Sessions, (sessions) => sessions.revoke(world.viewer, id))],
  [
    "every session of the person is revoked",
    4401,
    () => Effect.flatMap(Sessions, (sessions) => sessions.revokeAll(world.viewer))
  ],
  [
    "the account is suspended",
    4401,
    () =>
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`UPDATE users SET status = 'suspended' WHERE subject = ${world.viewer}`
      )
  ],
  [
    "the membership is suspended",
    4403,
    () => Effect.flatMap(Members, (members) => members.update(ada, inA, world.viewer, { status: "suspended" }))
  ],
  ["the member is removed", 4403, () => Effect.flatMap(Members, (members) => members.remove(ada, inA, world.viewer))]
]

describe("Stream revocation", () => {
  for (const [name, code, revoke] of revocations) {
    live(`when ${name}`, () =>
      Effect.gen(function* () {
        ;(yield* Journal).append(1)
        const { secret, session } = yield* sessionOf(world.viewer)
        const other = yield* sessionOf(world.ada)
        const socket = yield* following(bySession(secret))
        const bystander = yield* following(bySession(other.secret))
        yield* revoke(session.id)
        expect((yield* socket.closed).code).toBe(code)
        // The server has checked the authority of the other streams, which continue.
        ;(yield* Journal).append(1)
        expect((yield* bystander.messages(2)).length).toBe(2)
      })
    )
  }

  live("a live stream ends at the commit that revokes its personal access token", () =>
    Effect.gen(function* () {
      ;(yield* Journal).append(1)
      const tokens = yield* AccessTokens
      const { secret, token } = yield* tokens.create(ada, world.ada, { name: "ci", scopes: ["read"] })
      const socket = yield* following({ authorization: `Bearer ${text(secret)}` })
      yield* tokens.revoke(ada, world.ada, token.token_id)
      expect((yield* socket.closed).code).toBe(4401)
    })
  )

  live("a revoked server-sent event stream ends without the final frame", () =>
    Effect.gen(function* () {
      ;(yield* Journal).append(1)
      const { url } = yield* TestServer
      const { secret, session } = yield* sessionOf(world.viewer)
      const response = yield* Effect.promise(() =>
        fetch(`${url}${events}`, { headers: { ...bySession(secret), accept: "text/event-stream" } })
      )
      yield* Effect.flatMap(Sessions, (sessions) => sessions.revoke(world.viewer, session.id))
      const body = yield* Effect.promise(() => response.text())
      expect(body).not.toContain('"done":true')
    })
  )

  live("a live stream continues after its Workspace is archived, because archived Workspaces can be read", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      journal.append(1)
      const { secret } = yield* sessionOf(world.viewer)
      const socket = yield* following(bySession(secret))
      const workspaces = yield* Workspaces
      yield* workspaces.update(ada, world.ada, inA.workspaceId, { archived: true })
      journal.append(1)
      expect((yield* socket.messages(2)).length).toBe(2)
    })
  )
})

live("an unrelated commit wakes no follower of a stream", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { changedSince, seen } = yield* Effect.flatMap(AuthorityChanges, ({ follow }) => follow)
    const revoked = sql`UPDATE memberships SET status = 'suspended' WHERE subject = ${world.viewer}`
    const first = seen()
    yield* revoked
    yield* changedSince(first)
    const second = seen()
    yield* sql`UPDATE workspaces SET display_name = 'another' WHERE id = ${world.workspaceA}`
    // The revocation must come second: if the unrelated commit had woken a follower, this commit would be counted as an
    // additional change.
    yield* revoked
    yield* changedSince(second)
    expect(seen()).toBe(second + 1)
  })
)
