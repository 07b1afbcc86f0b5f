import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

const root = dirname(import.meta.dir)

/** Files in `actors/` that produce JSON other than by a column's codec, and what it is for. */
const otherJson: Readonly<Record<string, string>> = {
  "actors/agent/JobSecrets.ts": "a job, sealed",
  "actors/audit/AuditLink.ts": "what a digest is made of",
  "actors/authority/AuthorityColumns.ts": "the text of the guard",
  "actors/capsule/AdoptedOutputs.ts": "a comparison of values",
  "actors/connection/ConnectionUses.ts": "a name in quotes",
  "actors/connection/TokenRenewal.ts": "a name in quotes",
  "actors/connection/TokenRenewalDecision.ts": "a name in quotes",
  "actors/database/StoredRecord.ts": "the codec of the columns",
  "actors/execution/SyncExecution.ts": "an id that several parts give",
  "actors/idempotency/RequestDigest.ts": "the digest of a request",
  "actors/identity/InterfacePermissions.ts": "a search within a JSON text",
  "actors/identity/KeyGeneration.ts": "a key, sealed",
  "actors/identity/SigningKeys.ts": "the claims of a token",
  "actors/identity/StaticRegistry.ts": "a comparison of clients",
  "actors/install-plan/InstallPlanStore.ts": "private values, sealed",
  "actors/interface/InterfaceInputs.ts": "a size",
  "actors/interface/InterfaceResource.ts": "a search within a JSON text",
  "actors/interface/InterfacesLive.ts": "a search within a JSON text",
  "actors/paging/Cursors.ts": "a cursor",
  "actors/run-commands/RunsLive.ts": "ids for one statement",
  "actors/run/RunChanges.ts": "ids for one statement",
  "actors/run/RunLedger.ts": "ids for one statement",
  "actors/source-commands/SourceSchedule.ts": "a key of a map",
  "actors/staleness/ChangeCauseDecision.ts": "a key of a map",
  "actors/staleness/ChangeCauseReads.ts": "a comparison of values",
  "actors/staleness/PutBackDrift.ts": "a search within a shown value",
  "actors/staleness/PathFilters.ts": "a key of a map",
  "actors/state/BackupStore.ts": "an archive",
  "actors/account/UpstreamIdentities.ts": "an id that several parts give",
  "actors/vault/DataKeys.ts": "a key of a map",
  "actors/vault/Sealing.ts": "the place of a sealed value"
}

const callsIn = (method: "parse" | "stringify"): ReadonlyArray<string> =>
  readdirSync(join(root, "actors"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => `actors/${path.replaceAll("\\", "/")}`)
    .filter((file) => readFileSync(join(root, file), "utf8").includes(`JSON.${method}(`))
    .toSorted()

test("JSON columns are written by their model's codec", () => {
  // For a new column: `jsonText` in its table's model, and the model's `write`.
  expect(callsIn("stringify")).toEqual(Object.keys(otherJson).toSorted())
})

test("no JSON is read without a schema", () => {
  // The reader derived from a schema.
  expect(callsIn("parse")).toEqual(["actors/database/StoredRecord.ts"])
})
