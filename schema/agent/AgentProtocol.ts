import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { AgentId, EvidenceId } from "../records/Ids.ts"
import { AgentCapability, AgentFacts, AgentKeys } from "./AgentIdentity.ts"
import { HeldRun, HeldRunOrder, JobOffer, ReportBatch, RunClaim } from "./AgentJob.ts"
import { AgentRefusal } from "./AgentRefusal.ts"
import { Digest } from "./Blob.ts"
import { InlineFiles } from "./InlineFile.ts"
import { ProvidedMark } from "./ProvidedMark.ts"
import { PoolName } from "./PoolName.ts"

/*
 * The protocol between an agent and its server: RPC over HTTP at `/agent/v1/rpc`. Every message may arrive twice, because its
 * response may have been lost. Later releases only add fields. Every message after `Hello` carries the session as the bearer
 * token of its HTTP request. The server responds to a message only after the message's effect is durable.
 */

/** Returns a nonce to sign in `Hello`. It is valid for one session and one minute. */
export const Challenge = Rpc.make("Challenge", {
  payload: { agentId: AgentId },
  success: Schema.Struct({ nonce: Schema.String }),
  error: AgentRefusal
})

/** Enrols a new agent. Repeating the request with the same keys returns the same agent. */
export const Enrol = Rpc.make("Enrol", {
  payload: {
    token: Schema.RedactedFromValue(Schema.String),
    name: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/)),
    keys: AgentKeys,
    facts: AgentFacts
  },
  success: Schema.Struct({ agentId: AgentId, pool: PoolName, server: AgentKeys, installationId: Schema.String }),
  error: AgentRefusal
})

/**
 * Builds the text that an agent signs for `Hello`. Both sides build it identically. The signature covers the installation
 * and the keys that the agent announces.
 */
export const helloText = (hello: {
  readonly agentId: string
  readonly incarnation: string
  readonly nonce: string
  readonly installationId: string
  readonly nextKeys: AgentKeys | undefined
}): string =>
  [
    "svc-agent-hello-v1",
    hello.installationId,
    hello.agentId,
    hello.incarnation,
    hello.nonce,
    hello.nextKeys === undefined ? "none" : `${hello.nextKeys.sign} ${hello.nextKeys.seal}`
  ].join("\n")

/**
 * Begins a session. Ends any earlier session of the same agent, unless the earlier session belongs to another process that
 * is draining. `next` contains new public keys, which take effect with the next session. `providedMarks` are the marks of
 * `facts.provided`; if a mark changes, the credentials have been replaced.
 */
export const Hello = Rpc.make("Hello", {
  payload: {
    agentId: AgentId,
    nonce: Schema.String,
    /** Signature of `helloText` by the agent's Ed25519 key, in base64url. */
    signature: Schema.String.check(Schema.isMaxLength(128)),
    facts: AgentFacts,
    held: Schema.Array(HeldRun).check(Schema.isMaxLength(1024)),
    nextKeys: Schema.optionalKey(AgentKeys),
    providedMarks: Schema.optionalKey(Schema.Array(ProvidedMark).check(Schema.isMaxLength(64)))
  },
  success: Schema.Struct({
    session: Schema.RedactedFromValue(Schema.String),
    sessionSeconds: Schema.Int,
    pool: PoolName,
    protocol: Schema.Int,
    capabilities: Schema.Array(AgentCapability),
    orders: Schema.Array(HeldRunOrder),
    renewSeconds: Schema.Int,
    serverTime: Schema.String
  }),
  error: AgentRefusal
})

/**
 * Waits up to 25 seconds for a job. If the request is repeated with the same `claim`, returns the same offer, sealed again.
 */
export const Next = Rpc.make("Next", {
  payload: { claim: Schema.String.check(Schema.isPattern(/^[a-f0-9]{32}$/)), freePlaces: Schema.Int },
  success: Schema.Struct({ offer: Schema.optionalKey(JobOffer), drain: Schema.Boolean }),
  error: AgentRefusal
})

/** Accepts an offer. An offer that is not accepted goes to another agent after `acceptWithinSeconds`. */
export const Accept = Rpc.make("Accept", { payload: RunClaim, error: AgentRefusal })

/** Declines an offer that this agent cannot execute. People see `reason` on the waiting Run. */
export const Decline = Rpc.make("Decline", {
  payload: { ...RunClaim.fields, reason: Schema.String.check(Schema.isMaxLength(500)) },
  error: AgentRefusal
})

/**
 * Asks for permission to start the tool of an apply. When the response arrives, the start is durably recorded and the tool may
 * start.
 */
export const Start = Rpc.make("Start", { payload: RunClaim, error: AgentRefusal })

/**
 * Renews the leases of the agent's Runs, at the interval that the session specifies. The response contains cancellations,
 * which may be repeated. A process that holds no Runs and is about to exit sends `leaving` once; the response ends its
 * session. `unansweredSeconds` is the time since the agent sent the last message that got a response.
 */
export const Renew = Rpc.make("Renew", {
  payload: {
    held: Schema.Array(
      Schema.Struct({ ...RunClaim.fields, newestSerial: Schema.optionalKey(Schema.Int), spoolBytes: Schema.Finite })
    ).check(Schema.isMaxLength(256)),
    disk: AgentFacts.fields.disk,
    draining: Schema.Boolean,
    leaving: Schema.optionalKey(Schema.Boolean),
    unansweredSeconds: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)))
  },
  success: Schema.Struct({
    leases: Schema.Array(Schema.Struct({ ...RunClaim.fields, leaseSeconds: Schema.Int, cancel: Schema.Boolean })),
    /** Runs that no longer belong to the agent, each with `hand_in` or `discard`. */
    gone: Schema.Array(HeldRunOrder),
    drain: Schema.Boolean
  }),
  error: AgentRefusal
})

/** Stores a batch of events and lines. Returns the number of the last stored batch. */
export const Report = Rpc.make("Report", {
  payload: { ...RunClaim.fields, batch: ReportBatch },
  success: Schema.Struct({ acknowledged: Schema.Int }),
  error: AgentRefusal
})

/**
 * Stores a complete state. Its sealed blob is in `files` or was uploaded before. A state with an older serial is acknowledged but
 * not stored.
 */
export const Checkpoint = Rpc.make("Checkpoint", {
  payload: {
    ...RunClaim.fields,
    serial: Schema.Int,
    resourceCount: Schema.Int,
    blob: Digest,
    files: Schema.optionalKey(InlineFiles)
  },
  error: AgentRefusal
})

/**
 * Stores the result of the Run. `outcome` is the sealed blob of a `JobResult`. After the response, the agent may forget the Run.
 * `lastReport` is the last batch, unless that batch was already reported. Files that are not in `files` were uploaded
 * before.
 */
export const Result = Rpc.make("Result", {
  payload: {
    ...RunClaim.fields,
    lastBatch: Schema.Int,
    outcome: Digest,
    planFile: Schema.optionalKey(Digest),
    state: Schema.optionalKey(Digest),
    build: Schema.optionalKey(Digest),
    files: Schema.optionalKey(InlineFiles),
    lastReport: Schema.optionalKey(ReportBatch)
  },
  error: AgentRefusal
})

/** Submits the state and journal of a Run that was settled without them. Repeating the same blob has no effect. */
export const HandIn = Rpc.make("HandIn", {
  payload: { ...RunClaim.fields, leftOver: Digest },
  success: Schema.Struct({ evidenceId: EvidenceId }),
  error: AgentRefusal
})

export const AgentProtocol = RpcGroup.make(
  Challenge,
  Enrol,
  Hello,
  Next,
  Accept,
  Decline,
  Start,
  Renew,
  Report,
  Checkpoint,
  Result,
  HandIn
)
