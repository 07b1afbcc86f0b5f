import { Schema } from "effect"
import { SandboxLevel, ToolIdentity } from "../records/Run.ts"
import { ProvidedName } from "./ProvidedName.ts"

/** The protocol version. It changes only when an older side cannot work with a newer one at all. */
export const agentProtocol = 1

/** The capabilities of a side beyond the first release of the protocol, by name. Unknown names are ignored. */
export const AgentCapability = Schema.String.check(Schema.isPattern(/^[a-z][a-z0-9-]{0,63}$/))

/** The capability of an agent that can plan a change of the state alone. */
export const refreshesOnly = "refresh-only"

const publicKey = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{43}$/, { description: "32 bytes in base64url" }))

/** Public keys: Ed25519 to verify what the owner signs, X25519 to seal for the owner; both are raw bytes in base64url. */
export const AgentKeys = Schema.Struct({ sign: publicKey, seal: publicKey })
export type AgentKeys = typeof AgentKeys.Type

/**
 * Operating system and architecture as the tool names them, for instance `linux_amd64`: a saved plan and its provider hashes
 * depend on both.
 */
export const Platform = Schema.String.check(Schema.isPattern(/^[a-z0-9]{1,20}_[a-z0-9]{1,20}$/))
export type Platform = typeof Platform.Type

const label = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/))

/**
 * An agent's description of its machine, in the first message of each session.
 *
 * - `incarnation`: a random name for this process; a new one under the same agent id means that the agent was restarted
 * - `places`: the number of Runs that it executes at once
 * - `disk`: space on the volume with its work folder, in bytes; `low` if the agent accepts no new job because of it
 * - `draining`: it accepts no new job and exits once the last one has finished
 * - `provided`: names of its own credentials that Connections may use
 */
export const AgentFacts = Schema.Struct({
  version: Schema.String.check(Schema.isMaxLength(64)),
  protocol: Schema.Int,
  capabilities: Schema.Array(AgentCapability).check(Schema.isMaxLength(64)),
  incarnation: Schema.String.check(Schema.isPattern(/^[a-f0-9]{32}$/)),
  hostname: Schema.String.check(Schema.isMaxLength(255)),
  platform: Platform,
  tools: Schema.Array(ToolIdentity).check(Schema.isMaxLength(32)),
  isolation: SandboxLevel,
  labels: Schema.Record(label, Schema.String.check(Schema.isMaxLength(255))),
  places: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 256 })),
  disk: Schema.Struct({ freeBytes: Schema.Finite, totalBytes: Schema.Finite, low: Schema.Boolean }),
  draining: Schema.Boolean,
  provided: Schema.optionalKey(Schema.Array(ProvidedName).check(Schema.isMaxLength(64)))
})
export type AgentFacts = typeof AgentFacts.Type
