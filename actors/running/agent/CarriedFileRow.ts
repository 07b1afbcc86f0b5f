import { Schema } from "effect"
import { Digest } from "../../../schema/agent/Blob.ts"
import { CarriedFile } from "../../../schema/agent/CarriedFile.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { table } from "../../base/database/Table.ts"

/** A sealed file that arrived with a claim's result. */
export const CarriedFileRow = table("agent_carried_files", {
  run_id: RunId,
  fence: Schema.Int,
  kind: CarriedFile.fields.kind,
  digest: Digest,
  bytes: Schema.Uint8Array
})
