import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

const root = dirname(import.meta.dir)

/** Files in `actors/` that produce JSON without a column's codec, each with the reason. */
const otherJson: Readonly<Record<string, string>> = {
  "actors/base/vault/Vault.ts": "a key of a map",
  "actors/running/agent/JobSecrets.ts": "a job, sealed",
  "actors/access/approval/ApprovalRows.ts": "a canonical text for a comparison",
  "actors/commands/pull-request-report/PullRequestReporter.ts": "what a digest is made of",
  "actors/running/carry-over/CarryOver.ts": "a canonical text for a comparison",
  "actors/running/carry-over/CarryOverDecision.ts": "a canonical text for a comparison",
  "actors/running/carry-over/ChangeLines.ts": "a shown value",
  "actors/base/audit/AuditLink.ts": "what a digest is made of",
  "actors/ledger/capsule/AuthorityColumns.ts": "the text of the guard",
  "actors/commands/capsule/AdoptedOutputs.ts": "a comparison of values",
  "actors/inputs/connection/ConnectionUses.ts": "a name in quotes",
  "actors/inputs/connection/ConnectionActor.ts": "a name in quotes",
  "actors/inputs/connection/TokenRenewalDecision.ts": "a name in quotes",
  "actors/base/database/StoredRecord.ts": "the codec of the columns",
  "actors/running/execution/SyncExecution.ts": "an id that several parts give",
  "actors/base/idempotency/RequestDigest.ts": "the digest of a request",
  "actors/access/issuer/InterfacePermissions.ts": "a search within a JSON text",
  "actors/access/issuer/SigningKeys.ts": "a sealed key, and the claims of a token",
  "actors/access/issuer/StaticRegistry.ts": "a comparison of clients",
  "actors/commands/install-plan/InstallPlanStore.ts": "private values, sealed",
  "actors/ledger/interface/InterfaceInputs.ts": "a size",
  "actors/ledger/interface/InterfaceResource.ts": "a search within a JSON text",
  "actors/ledger/interface/InterfacesLive.ts": "a search within a JSON text",
  "actors/base/notice/NoticeFormats.ts": "the body of a request",
  "actors/base/paging/Cursors.ts": "a cursor",
  "actors/commands/run/RunsLive.ts": "ids for one statement",
  "actors/ledger/run/RunChanges.ts": "ids for one statement",
  "actors/ledger/run/RunLedger.ts": "ids for one statement",
  "actors/commands/source/SourceSchedule.ts": "a key of a map",
  "actors/ledger/staleness/ChangeCauseDecision.ts": "a key of a map, and a search within a shown value",
  "actors/ledger/staleness/ChangeCauseReads.ts": "a comparison of values",
  "actors/ledger/staleness/PathFilters.ts": "a key of a map",
  "actors/ledger/state/BackupStore.ts": "an archive",
  "actors/access/account/UpstreamIdentities.ts": "an id that several parts give",
  "actors/base/vault/DataKeys.ts": "a key of a map",
  "actors/base/vault/Sealing.ts": "the place of a sealed value"
}

const callsIn = (method: "parse" | "stringify"): ReadonlyArray<string> =>
  readdirSync(join(root, "actors"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => `actors/${path.replaceAll("\\", "/")}`)
    .filter((file) => readFileSync(join(root, file), "utf8").includes(`JSON.${method}(`))
    .toSorted()

test("every JSON column is written with the codec of its model", () => {
  // If a new column fails here: use `jsonText` in its table's model, and write the column with the model's `write`.
  expect(callsIn("stringify")).toEqual(Object.keys(otherJson).toSorted())
})

test("every read of JSON uses a schema", () => {
  // This file derives its readers from schemas.
  expect(callsIn("parse")).toEqual(["actors/base/database/StoredRecord.ts"])
})
