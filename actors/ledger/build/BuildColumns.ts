import { Schema } from "effect"
import type { BuildReference } from "../../../runner/execution/RunJob.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"

/** Columns that identify a build's archive and make it possible to detect changes to it. */
export const BuildColumns = rowShape({
  build_digest: Schema.NullOr(Schema.String),
  build_size_bytes: Schema.NullOr(Schema.Int)
})
export type BuildColumns = RowOf<typeof BuildColumns.columns>

export const buildColumns = (build: BuildReference | undefined): BuildColumns => ({
  build_digest: build?.digest ?? null,
  build_size_bytes: build?.sizeBytes ?? null
})

export const storedBuild = (row: BuildColumns): BuildReference | undefined =>
  row.build_digest === null ? undefined : { digest: row.build_digest, sizeBytes: row.build_size_bytes ?? 0 }
