import { Schema } from "effect"

/** `sha256:` and 64 hexadecimal digits. */
export const Digest = Schema.String.check(
  Schema.isPattern(/^sha256:[a-f0-9]{64}$/, { description: "sha256: and 64 hexadecimal digits" })
)
export type Digest = typeof Digest.Type

/**
 * Large objects travel as plain HTTP bodies. `snapshot` is the archive as stored; every other kind is sealed for its receiver.
 *
 * - GET `/agent/v1/runs/{runId}/{fence}/{kind}/{digest}`, resumable with `Range`: `snapshot`, `build`, `state`, `plan_file`
 * - PUT to the same address, `Content-Range: bytes A-B/T`; the response is the number of bytes stored: `build`, `state`,
 *   `plan_file`, `outcome`, `left_over`. `digest` is the digest of the sealed bytes
 */
export const BlobKind = Schema.Literals(["snapshot", "build", "state", "plan_file", "outcome", "left_over"])
export type BlobKind = typeof BlobKind.Type

export const agentPath = "/agent/v1"
export const agentRpcPath = `${agentPath}/rpc`

/** Response to a PUT: how many bytes are stored and flushed. The next part continues from there. */
export const StoredBytes = Schema.Struct({ storedBytes: Schema.Finite, complete: Schema.Boolean })
export type StoredBytes = typeof StoredBytes.Type
