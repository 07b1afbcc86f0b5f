import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DueWork } from "../../../../actors/base/DueWork.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { PullRequestRow } from "../../../../actors/ledger/pull-request/PullRequestRow.ts"
import { CreateConnection } from "../../../../schema/api/ConnectionsApi.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import { RelativePath } from "../../../../schema/records/Primitives.ts"
import { eventually } from "../../../support/Eventually.ts"
import { suite } from "../../../support/Effect.ts"
import { applied, driven, freshKey, settled } from "../../../support/Journey.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { everyPermission, ForgeWithGit, onForge, planeOnForge } from "../../support/ForgeWorld.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { looked, readOf } from "../../support/PullRequestWorld.ts"

setDefaultTimeout(60_000)

const bodyOf = Schema.decodeUnknownSync(CreateConnection)

/** Another Source of the same repository, with a different address and a separate Capsule on the same branch. */
const besides = Effect.fnUntraced(function* (lane: string, address: string) {
  const { context, url, workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  const request = {
    source: { name: `${lane}-beside`, url, ref: lane },
    capsule: { name: `${lane}-beside`, environment: "test" },
    options: { modulePath: RelativePath.make(".") }
  }
  const created = yield* (yield* InstallPlans).create(context, workspaceId, request, freshKey())
  const { capsuleId, planRunId } = yield* driven(created.value.id)
  if (capsuleId === undefined || planRunId === undefined) return yield* Effect.die("not reviewable")
  yield* applied(yield* settled(planRunId))
  const capsule = yield* (yield* Capsules).read(capsuleId)
  yield* sql`UPDATE sources SET url = ${address} WHERE id = ${capsule.sourceId}`
  const commands = yield* SourceCommands
  const source = yield* commands.Update(capsule.sourceId, {
    context,
    request: { autoSync: true, pullRequests: "own_branches" }
  })
  const { hookSecret } = yield* commands.RenewHookSecret(source.id, {
    context,
    hookSecretVersion: source.hookSecretVersion
  })
  return { capsule, source, secret: hookSecret ?? "" }
})

const keysOf = Effect.fnUntraced(function* (number: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* PullRequestRow.some(
    sql,
    "repository"
  )`SELECT repository FROM pull_requests WHERE number = ${number} ORDER BY id`
  return rows.map(({ repository }) => repository)
})

describe.each(["github", "gitlab", "forgejo"] as const)("Two Sources of one repository on %s", (kind) => {
  const tests = suite(planeOnForge(kind))
  afterAll(tests.dispose)

  tests.live("share the comment and the status, with or without a second forge Connection", () =>
    Effect.gen(function* () {
      const { address, state } = yield* ForgeWithGit
      const { context, workspaceId } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const work = yield* DueWork
      const first = yield* onForge("shared", greeting("one"))
      const opened = yield* first.opens(1, greeting("two"))
      const second = yield* besides("shared", `${address}/${first.repository.path.toUpperCase()}.git`)
      yield* looked(first.source.id, first.secret)
      yield* looked(second.source.id, second.secret)
      const [key] = yield* keysOf(1)
      expect(key).toStartWith(`${kind} ${new URL(address).host} `)
      expect(yield* keysOf(1)).toEqual([key ?? null, key ?? null])
      expect(
        yield* first.statusOf(opened.headCommit, (text) => kind === "gitlab" || text.startsWith("2 Cap"))
      ).toBeDefined()

      // The second Source has a Connection to another account now, and its address has the usual ending.
      const account = { id: 77, login: "robot-two" }
      state.tokens.set("token-two", { account, permissions: new Set(everyPermission[kind]) })
      first.repository.collaborators.set(account.login, "write")
      yield* sql`UPDATE sources SET url = ${`${address}/${first.repository.path}.git`} WHERE id = ${second.source.id}`
      const connection = yield* (yield* Connections).create(
        context,
        bodyOf({
          workspaceId,
          provider: kind,
          kind: "forge",
          authMode: "token",
          displayName: "Second",
          values: { token: "token-two" },
          origins: [address]
        })
      )
      yield* (yield* SourceCommands).Update(second.source.id, {
        context,
        request: { forgeConnectionId: connection.id }
      })
      const next = yield* first.opens(1, greeting("three"), { comments: opened.comments })
      expect(next.headCommit).not.toBe(opened.headCommit)
      // Only the first Source hears of the push. It makes the second look, too.
      yield* looked(first.source.id, first.secret)
      yield* eventually(readOf(second.source.id, 1), ({ headCommit }) => headCommit === next.headCommit)
      yield* sql`UPDATE pull_request_reports SET next_at = NULL`
      yield* work.wake
      yield* first.statusOf(next.headCommit, (text) => kind === "gitlab" || text === "2 Capsules: 2 planned.")
      expect(next.comments).toHaveLength(1)
      expect(new Set(state.statuses.map(({ context }) => context)).size).toBe(1)
    })
  )
})
