import { Schema } from "effect"

/** `sha256:` followed by 64 hexadecimal digits. */
export const Digest = Schema.String.check(
  Schema.isPattern(/^sha256:[a-f0-9]{64}$/, { description: "sha256: and 64 hexadecimal digits" })
)
export type Digest = typeof Digest.Type

/**
 * Kinds of large objects, which are transferred as plain HTTP bodies. `snapshot` is the stored archive; every other kind is
 * sealed for its receiver.
 * - GET `/agent/v1/runs/{runId}/{fence}/{kind}/{digest}`, resumable with `Range`: `snapshot`, `build`, `state`, `plan_file`
 * - PUT to the same URL with `Content-Range: bytes A-B/T`, for `build`, `state`, `plan_file`, `outcome` and `left_over`; the
 *   response contains the number of stored bytes `digest` is the digest of the sealed bytes.
 */
export const BlobKind = Schema.Literals(["snapshot", "build", "state", "plan_file", "outcome", "left_over"])
export type BlobKind = typeof BlobKind.Type

export const agentPath = "/agent/v1"
export const agentRpcPath = `${agentPath}/rpc`

/** The response to a PUT: the number of bytes that are on disk. The next part must start there. */
export const StoredBytes = Schema.Struct({ storedBytes: Schema.Finite, complete: Schema.Boolean })
export type StoredBytes = typeof StoredBytes.Type
