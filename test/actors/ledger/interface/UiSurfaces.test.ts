import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Users } from "../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { Interfaces } from "../../../../actors/ledger/interface/Interfaces.ts"
import { suite } from "../../../support/Effect.ts"
import { Bench, deployed, hostedPlane } from "../../support/HostedPlane.ts"
import { InterfaceId } from "../../../../schema/records/Ids.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(60_000)

const tests = suite(hostedPlane)
afterAll(tests.dispose)

const at = (n: number) => `2026-01-01T00:00:00.00${n}Z`
const id = (prefix: string, n: number) => `${prefix}_${String(n).padStart(24, "0")}`

/** Inserts the rows that an apply would write. */
const rows = Effect.gen(function* () {
  const { context, subject, workspaceId, otherWorkspaceId } = yield* Bench
  const sql = yield* SqlClient.SqlClient
  const { capsuleId } = yield* deployed("plain", "plain/producer")
  const elsewhere = yield* deployed("plain", "plain/producer", { workspaceId: otherWorkspaceId })
  const { subject: stranger } = yield* (yield* Users).create(serviceContext, {
    email: "b@example.test",
    isOperator: false
  })
  const provided = (n: number, status: string, capsule: string = capsuleId, workspace: string = workspaceId) =>
    sql`INSERT INTO interfaces ${sql.insert({
      id: id("ifc", n),
      workspace_id: workspace,
      capsule_id: capsule,
      interface_key: `key-${n}`,
      name: "Name",
      type: "ui",
      version: "1",
      document: "{}",
      inputs: "{}",
      access: '{"visibility":"workspace"}',
      status,
      revision: 1,
      created_at: at(n),
      updated_at: at(n)
    })}`
  const bound = (n: number, to: { subject?: string; status?: string; permissions?: string; workspace?: string } = {}) =>
    sql`INSERT INTO interface_bindings ${sql.insert({
      id: id("ifb", n),
      workspace_id: to.workspace ?? workspaceId,
      interface_id: id("ifc", n),
      subject: to.subject ?? subject,
      request_key: "open",
      permissions: to.permissions ?? '["ui.open"]',
      delivery_type: "none",
      status: to.status ?? "ready",
      created_at: at(n),
      updated_at: at(n)
    })}`
  yield* Effect.all([
    provided(1, "resolved"),
    bound(1),
    provided(2, "resolved"),
    bound(2, { permissions: '["mcp.invoke","ui.open"]' }),
    provided(3, "resolved"),
    bound(3, { permissions: '["UI.OPEN"]' }),
    provided(4, "resolved"),
    bound(4, { permissions: '["ui.open.more"]' }),
    provided(5, "resolved"),
    bound(5, { status: "revoked" }),
    provided(6, "not_ready"),
    bound(6),
    provided(7, "resolved"),
    bound(7, { subject: stranger }),
    provided(8, "resolved"),
    provided(9, "resolved", elsewhere.capsuleId, otherWorkspaceId),
    bound(9, { workspace: otherWorkspaceId })
  ])
  return { capsuleId, context, elsewhere: elsewhere.capsuleId, stranger, subject, workspaceId }
})

describe("ui-surfaces", () => {
  tests.live(
    "the list of UI surfaces contains exactly the Interfaces that a person may open, and the Capsule filter only narrows the list",
    () =>
      Effect.gen(function* () {
        const { capsuleId, context, elsewhere, stranger, subject, workspaceId } = yield* rows
        const interfaces = yield* Interfaces
        const keys = (who: string, filter: { capsuleId?: string } = {}) =>
          Effect.map(interfaces.uiSurfaces(workspaceId, who, filter, { limit: 100 }), ({ items }) =>
            items.map(({ key }) => key)
          )
        expect(yield* keys(subject)).toEqual(["key-1", "key-2"])
        expect(yield* keys(stranger)).toEqual(["key-7"])
        expect(yield* keys(subject, { capsuleId })).toEqual(["key-1", "key-2"])
        expect(yield* keys(subject, { capsuleId: elsewhere })).toEqual([])
        expect(yield* keys(subject, { capsuleId: "cap_unknown" })).toEqual([])

        // Reads page by page, and checks that another reader cannot use the cursor.
        const first = yield* interfaces.uiSurfaces(workspaceId, subject, {}, { limit: 1 })
        const cursor = first.nextCursor ?? ""
        const second = yield* interfaces.uiSurfaces(workspaceId, subject, {}, { limit: 1, cursor })
        expect([first, second].map(({ items }) => items.map(({ key }) => key))).toEqual([["key-1"], ["key-2"]])
        expect(second.nextCursor).toBeUndefined()
        const stolen = interfaces.uiSurfaces(workspaceId, stranger, {}, { limit: 1, cursor })
        expect((yield* Effect.flip(stolen)).code).toBe("invalid_request")

        // Every use is checked, so the binding does not let a user outside the Workspace use the Interface.
        const use = { interfaceId: InterfaceId.make(id("ifc", 7)), permission: "ui.open", delivery: "none" }
        expect((yield* Effect.flip(interfaces.authorize({ ...use, subject: stranger }))).code).toBe("permission_denied")
        const own = { ...use, subject, interfaceId: InterfaceId.make(id("ifc", 1)) }
        expect((yield* interfaces.authorize(own)).key).toBe("key-1")
        yield* (yield* CapsuleCommands).Update(capsuleId, { context, status: "disabled" })
        expect(yield* keys(subject)).toEqual([])
        expect((yield* Effect.flip(interfaces.authorize(own))).code).toBe("permission_denied")
      })
  )
})
