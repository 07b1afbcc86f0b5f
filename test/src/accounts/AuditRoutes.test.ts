import { expect } from "bun:test"
import { Effect, Layer, Schema } from "effect"
import { Audit } from "../../../actors/base/audit/Audit.ts"
import { AuditKeys } from "../../../actors/base/audit/AuditLink.ts"
import { verifyAudit } from "../../../actors/base/audit/AuditVerification.ts"
import { ExportedAuditEvent } from "../../../schema/records/ExportedAuditEvent.ts"
import { AuditHead } from "../../../schema/records/AuditHead.ts"
import { SqlClient } from "effect/sql"
import { newPerson, newWorkspace } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import { AccountServer, call, fromPage, openSession } from "./support/AccountServer.ts"

const fresh = Effect.provide(Layer.fresh(AccountServer.layer))
const decodeLine = Schema.decodeUnknownSync(Schema.fromJsonString(ExportedAuditEvent))

/** Returns an export's lines and response headers. */
const exported = Effect.fnUntraced(function* (path: string, headers: Readonly<Record<string, string>>) {
  const server = yield* AccountServer
  const response = yield* server.handle(new Request(`${server.origin}${path}`, { headers }), "192.0.2.1")
  const text = yield* Effect.promise(() => response.text())
  return {
    headers: response.headers,
    events: text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => decodeLine(line))
  }
})

it.effect(
  "an owner can export only their own Workspace's history, resume the export after its last line, and read the head of the chain",
  () =>
    Effect.gen(function* () {
      const { subject } = yield* newPerson("ann")
      const headers = fromPage((yield* openSession(subject)).secret)
      const workspace = yield* newWorkspace(subject, { handle: "acme" })
      const other = yield* newWorkspace(subject, { handle: "other" })
      const audit = yield* Audit
      const append = (workspaceId: typeof workspace.id, id: string) =>
        audit.append({
          workspaceId,
          actor: { kind: "user", subject },
          action: "thing.note",
          target: { kind: "thing", id }
        })
      const sql = yield* SqlClient.SqlClient
      const many = Effect.forEach(Array.from({ length: 1100 }).keys(), (n) => append(workspace.id, `t${n}`))
      yield* sql.withTransaction(many)
      yield* append(other.id, "foreign")
      const base = `/api/v1/workspaces/${workspace.id}`
      const all = yield* exported(`${base}/audit-events`, headers)
      expect(all.headers.get("content-type")).toContain("application/x-ndjson")
      expect(all.headers.get("content-disposition")).toContain("attachment")
      expect(all.headers.get("cache-control")).toBe("no-store")
      const positions = all.events.map(({ position }) => position)
      expect(positions).toEqual(positions.map((_, index) => index + 1))
      expect(all.events.filter(({ action }) => action === "thing.note")).toHaveLength(1100)
      expect(new Set(all.events.map(({ workspaceId }) => workspaceId))).toEqual(new Set([workspace.id]))
      const { json } = yield* call(`${base}/audit-head`, { headers })
      const head = Schema.decodeUnknownSync(AuditHead)(json)
      const last = all.events.at(-1)
      expect(head.chains).toEqual([
        { workspaceId: workspace.id, position: last?.position ?? 0, count: all.events.length, mac: last?.mac ?? "" }
      ])
      yield* append(workspace.id, "later")
      const more = yield* exported(`${base}/audit-events?after=${last?.position}`, headers)
      expect(more.events.map(({ target }) => target.id)).toEqual(["later"])
      const one = yield* exported(`${base}/audit-events?action=thing.note&after=1099`, headers)
      expect(one.events.every(({ action, position }) => action === "thing.note" && position > 1099)).toBe(true)
      const verdict = yield* Effect.flatMap(AuditKeys, (key) =>
        verifyAudit(key, { head, installationId: head.installationId })
      )
      expect(verdict.faults).toEqual([])
    }).pipe(fresh)
)
