import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { AgentId, EvidenceId } from "../records/Ids.ts"
import { AgentCapability, AgentFacts, AgentKeys } from "./AgentIdentity.ts"
import { HeldRun, HeldRunOrder, JobOffer, ReportBatch, RunClaim } from "./AgentJob.ts"
import { AgentRefusal } from "./AgentRefusal.ts"
import { Digest } from "./Blob.ts"
import { InlineFiles } from "./CarriedFile.ts"
import { ProvidedMark } from "./ProvidedMark.ts"
import { PoolName } from "./PoolName.ts"

/*
 * The protocol between an agent and its server: RPC over HTTP requests at `/agent/v1/rpc`. Every message may arrive twice, since
 * its response may have been lost. Fields are only ever added. Every message after `Hello` carries the session as the bearer
 * token of its HTTP request; the server responds once the effect is durable.
 */

/** Returns the server's nonce for the signature of `Hello`. It is valid for one session, for one minute. */
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
 * The message that `Hello` signs; both sides build it identically. It binds the installation and the keys that the agent
 * announces.
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
 * Begins a session and ends an older session of the same agent, unless that one belongs to another process that is draining.
 * `next` holds the new public keys when the agent is rotating its keys: they take effect with the next session. `providedMarks`
 * belong to the sets in `facts.provided`; a changed mark means that the set has been replaced.
 */
export const Hello = Rpc.make("Hello", {
  payload: {
    agentId: AgentId,
    nonce: Schema.String,
    /** Signature over `helloText`, by the agent's Ed25519 key, in base64url. */
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

/** Waits up to 25 seconds for a job. Repeating the request with the same `claim` returns the same offer, sealed again. */
export const Next = Rpc.make("Next", {
  payload: { claim: Schema.String.check(Schema.isPattern(/^[a-f0-9]{32}$/)), freePlaces: Schema.Int },
  success: Schema.Struct({ offer: Schema.optionalKey(JobOffer), drain: Schema.Boolean }),
  error: AgentRefusal
})

/** An offer that is not accepted in time (`acceptWithinSeconds`) goes to another agent. */
export const Accept = Rpc.make("Accept", { payload: RunClaim, error: AgentRefusal })

/** Declines an offer that this agent cannot execute; `reason` is shown with the Run while it waits. */
export const Decline = Rpc.make("Decline", {
  payload: { ...RunClaim.fields, reason: Schema.String.check(Schema.isMaxLength(500)) },
  error: AgentRefusal
})

/** For an apply: the response means that the start has been recorded durably and the tool may start. */
export const Start = Rpc.make("Start", { payload: RunClaim, error: AgentRefusal })

/**
 * Renews the leases on what the agent holds, at the interval that the session specifies. The response carries cancellations,
 * which may be repeated. `leaving` is sent once, by a process that holds nothing and is about to exit: its session ends with the
 * response. `unansweredSeconds` is the time since the agent last sent a message that was answered.
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
    /** Runs that no longer belong to the agent: `hand_in` or `discard`. */
    gone: Schema.Array(HeldRunOrder),
    drain: Schema.Boolean
  }),
  error: AgentRefusal
})

/** Stores a batch of events and lines; returns the number of the last stored batch. */
export const Report = Rpc.make("Report", {
  payload: { ...RunClaim.fields, batch: ReportBatch },
  success: Schema.Struct({ acknowledged: Schema.Int }),
  error: AgentRefusal
})

/**
 * A complete state whose sealed blob has already been uploaded or is in `files`. Acknowledged once the server has stored it; an
 * older serial is acknowledged but not stored.
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
 * The result of the Run; `outcome` is the sealed blob of a `JobResult`. Acknowledged once it has been stored; after that, the
 * agent may forget the Run. `lastReport` is the last batch, if it has not been reported yet; a file that is not in `files` has
 * already been uploaded.
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

/** State and journal of a Run that was settled without them. Repeating the same blob has no further effect. */
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
