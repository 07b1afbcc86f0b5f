import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { OperatorConfigs } from "../../../../actors/ledger/configuration/OperatorConfigs.ts"
import { effectiveRole } from "../../../../actors/access/team/CurrentRights.ts"
import type { WorkspaceLocator } from "../../../../schema/api/Access.ts"
import { locateWorkspaces } from "../../../../src/http/authorization/WorkspaceLocation.ts"
import { ledgers } from "../../../actors/support/GuardedPlane.ts"
import { it } from "../../../support/Effect.ts"
import { world } from "../support/World.ts"

const at = "2026-01-01T00:00:00.000Z"
const plane = Layer.fresh(
  ledgers.pipe(Layer.provideMerge(Layer.succeed(OperatorConfigs, { profiles: {}, baseConfigs: [], loadedAt: at })))
)

interface Grant {
  readonly role: string
  readonly environment?: string
  readonly project_id?: string
}

/** Returns the role that a member has for a record of a Workspace through a team with this grant. */
const roleBy = Effect.fnUntraced(function* (locator: WorkspaceLocator, id: string, grant: Grant, status = "active") {
  const sql = yield* SqlClient.SqlClient
  const subject = world.ada
  yield* sql`UPDATE memberships SET role = 'member', status = ${status}
    WHERE subject = ${subject} AND workspace_id = ${world.workspaceA}`
  yield* sql`DELETE FROM team_grants`
  yield* sql`INSERT INTO team_grants ${sql.insert({ team_id: world.teamId, position: 0, ...grant })}`
  const [found] = yield* (yield* locateWorkspaces)(locator)(id, subject)
  return [found?.role, found?.memberStatus]
})

it.live("a team adds a role only for Capsules in its Project and environment, and for the Runs of these Capsules", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [capsule] = yield* sql<{
      readonly environment: string
      readonly project: string
    }>`SELECT environment, project_id AS project FROM capsules WHERE id = ${world.capsuleId}`
    if (capsule === undefined) return yield* Effect.die("no Capsule")
    const { environment, project } = capsule
    yield* sql`INSERT INTO teams ${sql.insert({ id: world.teamId, workspace_id: world.workspaceA, name: "sre", created_at: at, updated_at: at })}`
    yield* sql`INSERT INTO team_members ${sql.insert({ team_id: world.teamId, subject: world.ada })}`
    const here = { role: "admin", environment, project_id: project }
    const roles = {
      capsule: yield* roleBy("path.capsuleId", world.capsuleId, here),
      run: yield* roleBy("path.runId", world.runId, here),
      everywhere: yield* roleBy("path.runId", world.runId, { role: "admin" }),
      elsewhere: yield* roleBy("path.runId", world.runId, { role: "admin", environment: `${environment}-two` }),
      lower: yield* roleBy("path.runId", world.runId, { role: "viewer" }),
      workspace: yield* roleBy("path.workspaceId", world.workspaceA, here),
      suspended: yield* roleBy("path.runId", world.runId, here, "unconfirmed")
    }
    expect(roles).toEqual({
      capsule: ["admin", "active"],
      run: ["admin", "active"],
      everywhere: ["admin", "active"],
      elsewhere: ["member", "active"],
      lower: ["member", "active"],
      workspace: ["member", "active"],
      suspended: ["admin", "unconfirmed"]
    })
    yield* sql`DELETE FROM memberships WHERE subject = ${world.ada} AND workspace_id = ${world.workspaceA}`
    const [stranger] = yield* (yield* locateWorkspaces)("path.runId")(world.runId, world.ada)
    expect(stranger?.role).toBeUndefined()
  }).pipe(Effect.provide(plane))
)

it.live("a team's role never lowers an existing role, and has no effect without a membership", () =>
  Effect.sync(() => {
    expect(effectiveRole("owner", ["viewer", "admin"])).toBe("owner")
    expect(effectiveRole("viewer", ["member", "viewer"])).toBe("member")
    expect(effectiveRole("member", [])).toBe("member")
    expect(effectiveRole(undefined, ["admin"])).toBeUndefined()
  })
)
