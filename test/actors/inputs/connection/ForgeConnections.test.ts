import { afterAll, describe, expect, test } from "bun:test"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { openForge, repositoryPathOf } from "../../../../actors/inputs/connection/ForgeConnections.ts"
import { SourceStore } from "../../../../actors/ledger/source/SourceStore.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { CreateConnection } from "../../../../schema/api/ConnectionsApi.ts"
import { GitAddress } from "../../../../schema/git/GitAddress.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import { SourceId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { fakeForgejo } from "../../../support/forge/FakeForgejo.ts"
import { type ForgeState, forgeState } from "../../../support/forge/ForgeState.ts"
import { newMember, newOwner, testPlane } from "../../../support/TestPlane.ts"

const robot = { id: 7, login: "svc-robot" }

class FakeForge extends Context.Service<FakeForge, { readonly state: ForgeState; readonly address: string }>()(
  "test/ForgeConnections/FakeForge"
) {}

const forge = Layer.effect(
  FakeForge,
  Effect.gen(function* () {
    const state = forgeState()
    return { state, address: yield* fakeForgejo(state) }
  })
)

const tests = suite(
  Layer.unwrap(Effect.map(FakeForge, ({ address }) => testPlane({ gitOrigins: [address] }))).pipe(
    Layer.provideMerge(forge)
  )
)
afterAll(tests.dispose)

const bodyOf = Schema.decodeUnknownSync(CreateConnection)

/** Sets up a Workspace's forge Connection, and a Source on the forge that uses the Connection. */
const world = Effect.gen(function* () {
  const { address, state } = yield* FakeForge
  const { context, workspaceId } = yield* newOwner(`owner-${crypto.randomUUID()}`)
  state.tokens.set("forge-token", { account: robot, permissions: new Set(["user", "repository", "issue"]) })
  const repository = state.repositories.at(0) ?? state.addRepository("team/network")
  repository.collaborators.set(robot.login, "write")
  const body = (more: Readonly<Record<string, unknown>> = {}) =>
    bodyOf(
      Object.fromEntries(
        Object.entries({
          workspaceId,
          provider: "forgejo",
          kind: "forge",
          displayName: "Comments",
          values: { token: "forge-token" },
          origins: [address],
          ...more
        }).filter(([, value]) => value !== undefined)
      )
    )
  const connection = yield* (yield* Connections).create(context, body())
  const { source } = yield* (yield* Sources).create(context, {
    workspaceId,
    name: "network",
    url: `${address}/team/network.git`
  })
  const update = (forgeConnectionId: typeof connection.id | null) =>
    Effect.flatMap(SourceCommands, ({ Update }) => Update(source.id, { context, request: { forgeConnectionId } }))
  const opened = Effect.gen(function* () {
    const row = yield* (yield* SourceStore).find(source.id)
    return row === undefined ? undefined : yield* openForge(row)
  })
  return { address, body, connection, context, opened, repository, source, state, update, workspaceId }
})

test("svc derives a repository's path from the forge's address", () => {
  expect(repositoryPathOf("https://github.com", "https://github.com/team/network.git")).toBe("team/network")
  expect(repositoryPathOf("https://git.example.com/gitlab/", "https://git.example.com/gitlab/a/b/c")).toBe("a/b/c")
  expect(repositoryPathOf("https://github.com", "https://github.com/network.git")).toBeUndefined()
})

describe("Forge Connections", () => {
  tests.live(
    "a forge Connection is tested against the repositories of its Sources, and its token is never returned",
    () =>
      Effect.gen(function* () {
        const { connection, context, repository, state, update } = yield* world
        const { Test } = yield* ConnectionCommands
        expect(connection).toMatchObject({
          kind: "forge",
          recipeId: "forge-forgejo",
          authMode: "token",
          envNames: ["token"]
        })
        expect(JSON.stringify(connection)).not.toContain("forge-token")
        yield* update(connection.id)
        expect((yield* Test(connection.id, { context })).tested).toBe("forge")
        repository.collaborators.set(robot.login, "read")
        const lacking = yield* Effect.flip(Test(connection.id, { context }))
        expect(lacking).toMatchObject({
          code: "failed_precondition",
          message: "The account svc-robot lacks: write access to team/network."
        })
        state.tokens.delete("forge-token")
        const refused = yield* Effect.flip(Test(connection.id, { context }))
        expect(refused.message).toContain("does not accept the credential")
        expect(refused.message).not.toContain("forge-token")
      })
  )

  tests.live("a forge Connection accepts a new token only if the forge accepts it", () =>
    Effect.gen(function* () {
      const { connection, context, opened, state, update } = yield* world
      const { Update } = yield* ConnectionCommands
      yield* update(connection.id)
      const rotate = (token: string) => Update(connection.id, { context, request: { values: { token } } })
      expect((yield* Effect.flip(rotate("unknown-token"))).message).toStartWith("The new values were not taken over")
      state.tokens.set("second-token", { account: robot, permissions: new Set(["user", "repository", "issue"]) })
      expect(yield* rotate("second-token")).toMatchObject({ tested: "forge", connection: { version: 2 } })
      const place = yield* opened
      expect(place?.path).toBe("team/network")
      const credential = place?.access.credential
      expect(credential?._tag === "Token" && Redacted.value(credential.token)).toBe("second-token")
    })
  )

  tests.live("only admins can choose a forge Connection, and only for a repository on its forge", () =>
    Effect.gen(function* () {
      const { body, connection, context, source, workspaceId } = yield* world
      const { Update } = yield* SourceCommands
      const request = { forgeConnectionId: connection.id }
      const member = yield* newMember(workspaceId, context, "member")
      expect((yield* Effect.flip(Update(source.id, { context: member, request }))).code).toBe("permission_denied")
      const admin = yield* newMember(workspaceId, context, "admin")
      expect((yield* Update(source.id, { context: admin, request })).forgeConnectionId).toBe(connection.id)
      expect(
        (yield* Update(source.id, { context: admin, request: { forgeConnectionId: null } })).forgeConnectionId
      ).toBe(undefined)
      const url = GitAddress.make("https://github.com/team/network")
      const elsewhere = yield* (yield* Sources).create(context, { workspaceId, name: "elsewhere", url })
      const wrongPlace = yield* Effect.flip(Update(elsewhere.source.id, { context: admin, request }))
      expect(wrongPlace).toMatchObject({ code: "invalid_request", message: expect.stringContaining("is elsewhere") })
      const other = yield* newOwner(`owner-${crypto.randomUUID()}`)
      const foreign = yield* (yield* Connections).create(other.context, { ...body(), workspaceId: other.workspaceId })
      const wrongWorkspace = yield* Effect.flip(
        Update(source.id, { context: admin, request: { forgeConnectionId: foreign.id } })
      )
      expect(wrongWorkspace.code).toBe("invalid_request")
      // A forge token is not a Git credential.
      const asGit = yield* Effect.flip(
        Update(source.id, { context: admin, request: { authConnectionId: connection.id } })
      )
      expect(asGit.code).toBe("invalid_request")
    })
  )

  tests.live("a forge Connection cannot be removed while a Source uses it, and cannot be used once it is revoked", () =>
    Effect.gen(function* () {
      const { connection, context, opened, source, update } = yield* world
      const { Remove, Revoke } = yield* ConnectionCommands
      expect(yield* opened).toBeUndefined()
      yield* update(connection.id)
      const used = yield* Effect.flip(Remove(connection.id, { context }))
      expect(used.message).toContain("the pull requests of the Source network")
      yield* Revoke(connection.id, { context })
      expect((yield* Effect.flip(opened)).message).toContain("revoked")
      yield* (yield* SourceCommands).Remove(SourceId.make(source.id), { context })
      yield* Remove(connection.id, { context })
    })
  )

  tests.live("a forge Connection needs exactly one address, a known forge and a matching recipe", () =>
    Effect.gen(function* () {
      const { address, body, context } = yield* world
      const connections = yield* Connections
      const refused = (more: Readonly<Record<string, unknown>>) =>
        Effect.map(Effect.flip(connections.create(context, body(more))), ({ code, message }) =>
          code === "invalid_request" ? message.split(":")[0] : code
        )
      expect(yield* refused({ origins: undefined })).toBe("origins")
      expect(yield* refused({ origins: [address, "https://github.com"] })).toBe("origins")
      expect(yield* refused({ origins: ["http://10.0.0.7"] })).toBe("origins[0]")
      expect(yield* refused({ provider: "bitbucket" })).toBe("provider")
      expect(yield* refused({ recipeId: "generic-env" })).toBe("provider")
      expect(yield* refused({ kind: "provider", origins: undefined, recipeId: "forge-forgejo" })).toBe("recipeId")
      expect(yield* refused({ kind: "git_https", recipeId: "forge-forgejo" })).toBe("recipeId")
      expect(yield* refused({ values: {} })).toBe("values.token")
      expect(yield* refused({ provider: "github", values: { app_id: "12345", installation_id: "678" } })).toBe("files")
      expect(yield* refused({ use: { roles: ["admin"], refs: ["refs/heads/main"] } })).toBe("use")
      const app = yield* connections.create(
        context,
        body({
          provider: "github",
          values: { app_id: "12345", installation_id: "678" },
          files: [{ name: "private-key.pem", content: "a key in PEM form" }]
        })
      )
      expect(app).toMatchObject({ authMode: "app", recipeId: "forge-github", fileNames: ["private-key.pem"] })
    })
  )
})
