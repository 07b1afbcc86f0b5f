import { expect, test } from "bun:test"
import { dirname } from "node:path"
import { unbrandedIds } from "./support/UnbrandedIds.ts"

const root = dirname(import.meta.dir)

const filter = "a filter of a query: text that is no id matches nothing"
const credential = "the credential of the actor, which may also be a token of the issuer"
const ofNobody = "a data key may belong to no Workspace, which is the empty text"

/** Ids that may be any string, each with the reason. */
const asText: Readonly<Record<string, string>> = {
  "actors/access/account/PeopleBehind.ts: tokenId": credential,
  "actors/access/account/AccessTokens.ts: tokenId": "the end of the previous page, as the signed cursor has it",
  "actors/access/approval/Approvals.ts: tokenId": credential,
  "actors/access/approval/PlanAuthors.ts: tokenId": credential,
  "actors/access/approval/RunApprovalReads.ts: tokenId": credential,
  "actors/base/audit/Audit.ts: actor_token_id": credential,
  "actors/base/audit/AuditFilter.ts: capsuleId": filter,
  "actors/base/audit/AuditFilter.ts: runId": filter,
  "actors/base/audit/AuditRow.ts: actor_token_id": credential,
  "actors/commands/capsule/CapsuleOrphanedStates.ts: runId": filter,
  "actors/commands/capsule/CapsuleRuns.ts: tokenId": credential,
  "actors/commands/capsule/Capsules.ts: projectId": filter,
  "actors/access/issuer/Consents.ts: workspace_id": "a consent may be bound to no Workspace, which is the empty text",
  "actors/access/issuer/TokenIssuance.ts: tokenId": "the id of a token of the issuer, which contains its grant",
  "actors/ledger/interface/Interfaces.ts: capsuleId": filter,
  "actors/ledger/run/RunFilter.ts: capsuleId": filter,
  "actors/ledger/run/RunFilter.ts: sourceId": filter,
  "actors/base/vault/DataKeys.ts: workspace_id": ofNobody,
  "actors/base/vault/DataKeys.ts: workspaceId": ofNobody,
  "actors/base/vault/SealedPlaces.ts: workspaceId": "an expression of SQL, and what it finds in any table",
  "actors/base/vault/Sealing.ts: workspaceId": "a part of the place that a sealed value is bound to, compared as text",
  "actors/ledger/workspace/Workspaces.ts: selectedWorkspaceId":
    "from a query: text that is no id is refused as a foreign one"
}

test("every id in actors/ and in commands has the brand of its record, or is listed with a reason", async () => {
  const { files, ids } = await unbrandedIds(root, ["actors", "schema/commands"])
  expect(files).toBeGreaterThan(300)
  // If a new id fails here: use the brand from `schema/records/Ids.ts`, and decode the string where it enters the program.
  expect(ids).toEqual(Object.keys(asText).toSorted())
}, 60_000)
