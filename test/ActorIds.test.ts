import { expect, test } from "bun:test"
import { dirname } from "node:path"
import { unbrandedIds } from "./support/UnbrandedIds.ts"

const root = dirname(import.meta.dir)

const filter = "a filter of a query: text that is no id matches nothing"
const credential = "the credential of the actor, which may also be a token of the issuer"
const ofNobody = "a data key may belong to no Workspace, which is the empty text"

/** Ids that may be any string, with the reason. */
const asText: Readonly<Record<string, string>> = {
  "actors/account/PeopleBehind.ts: tokenId": credential,
  "actors/account/TokenPage.ts: tokenId": "the end of the previous page, as the signed cursor has it",
  "actors/approval/Approvals.ts: tokenId": credential,
  "actors/approval/PlanAuthors.ts: tokenId": credential,
  "actors/approval/RunApprovalReads.ts: tokenId": credential,
  "actors/audit/Audit.ts: actor_token_id": credential,
  "actors/audit/AuditFilter.ts: capsuleId": filter,
  "actors/audit/AuditFilter.ts: runId": filter,
  "actors/audit/AuditRow.ts: actor_token_id": credential,
  "actors/capsule/CapsuleLeftOvers.ts: runId": filter,
  "actors/capsule/CapsuleRuns.ts: tokenId": credential,
  "actors/capsule/Capsules.ts: projectId": filter,
  "actors/identity/ConsentRow.ts: workspace_id": "a consent may be bound to no Workspace, which is the empty text",
  "actors/identity/TokenIssuance.ts: tokenId": "the id of a token of the issuer, which contains its grant",
  "actors/interface/Interfaces.ts: capsuleId": filter,
  "actors/run/RunFilter.ts: capsuleId": filter,
  "actors/run/RunFilter.ts: sourceId": filter,
  "actors/vault/DataKeyRow.ts: workspace_id": ofNobody,
  "actors/vault/DataKeys.ts: workspaceId": ofNobody,
  "actors/vault/DataKeys.ts: workspace_id": ofNobody,
  "actors/vault/SealedPlaces.ts: workspaceId": "an expression of SQL, and what it finds in any table",
  "actors/vault/Sealing.ts: workspaceId": "a part of the place that a sealed value is bound to, compared as text",
  "actors/workspace/WorkspaceList.ts: selectedWorkspaceId":
    "from a query: text that is no id is refused as a foreign one"
}

test("an id in actors/ and in its messages has the brand of its record, or is listed with a reason", async () => {
  const { files, ids } = await unbrandedIds(root, ["actors", "schema/protocol"])
  expect(files).toBeGreaterThan(300)
  // If a new one fails here: take the brand from `schema/records/Ids.ts`, and decode the string where it enters.
  expect(ids).toEqual(Object.keys(asText).toSorted())
})
