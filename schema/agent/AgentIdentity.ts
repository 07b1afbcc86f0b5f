import { Schema } from "effect"
import { SandboxLevel, ToolIdentity } from "../records/Run.ts"
import { ProvidedName } from "./ProvidedName.ts"

/**
 * The protocol version. It changes only if older agents and servers cannot work with newer ones at all.
 */
export const agentProtocol = 1

/** Name of a capability that was added to the protocol after its first release. Receivers ignore unknown names. */
export const AgentCapability = Schema.String.check(Schema.isPattern(/^[a-z][a-z0-9-]{0,63}$/))

/** Capability to create plans that change only the state. */
export const refreshesOnly = "refresh-only"

const publicKey = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{43}$/, { description: "32 bytes in base64url" }))

/** Public keys as raw bytes in base64url: Ed25519 to verify the owner's signatures, X25519 to seal data for the owner. */
export const AgentKeys = Schema.Struct({ sign: publicKey, seal: publicKey })
export type AgentKeys = typeof AgentKeys.Type

/**
 * Operating system and architecture as the tool spells them, such as `linux_amd64`. Saved plans and provider hashes depend
 * on both.
 */
export const Platform = Schema.String.check(Schema.isPattern(/^[a-z0-9]{1,20}_[a-z0-9]{1,20}$/))
export type Platform = typeof Platform.Type

const label = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/))

/**
 * The facts that an agent reports about its machine in the first message of each session.
 * - `incarnation`: a random name of this process; a new name under the same agent id means that the agent was restarted
 * - `places`: number of Runs that the agent can execute at once
 * - `disk`: bytes on the volume with its work folder; at `low`, the agent accepts no new jobs
 * - `draining`: the agent accepts no new jobs, and exits after the last one
 * - `provided`: names of the agent's own credentials that Connections may use
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
