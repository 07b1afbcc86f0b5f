import type { BuildReference } from "../../runner/execution/RunJob.ts"

/** Columns of a row that refers to a build: enough to find the archive and to notice a different one. */
export interface BuildColumns {
  readonly build_digest: string | null
  readonly build_size_bytes: number | null
}

export const buildColumns = (build: BuildReference | undefined): BuildColumns => ({
  build_digest: build?.digest ?? null,
  build_size_bytes: build?.sizeBytes ?? null
})

export const storedBuild = (row: BuildColumns): BuildReference | undefined =>
  row.build_digest === null ? undefined : { digest: row.build_digest, sizeBytes: row.build_size_bytes ?? 0 }
