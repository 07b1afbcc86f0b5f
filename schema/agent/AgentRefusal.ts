import { Schema } from "effect"

/**
 * The Run no longer belongs to this agent under this fence. The agent must write nothing more, and submits its state and journal
 * as evidence.
 */
export class Gone extends Schema.TaggedError<Gone>()("Gone", { message: Schema.String }) {}

/** The session, the agent or its enrolment token is not valid. `retry`: true if the server would accept a new session. */
export class Unauthorised extends Schema.TaggedError<Unauthorised>()("Unauthorised", {
  message: Schema.String,
  retry: Schema.Boolean
}) {}

/**
 * The server does not support this version. `message` states which version it needs. Runs that are executing keep their lease.
 */
export class UpgradeRequired extends Schema.TaggedError<UpgradeRequired>()("UpgradeRequired", {
  message: Schema.String
}) {}

/** The server cannot accept this now, for instance because its disk is full. Safe to repeat. */
export class Busy extends Schema.TaggedError<Busy>()("Busy", {
  message: Schema.String,
  retryAfterSeconds: Schema.Int
}) {}

/** The request is invalid; repeating it will not help. */
export class Rejected extends Schema.TaggedError<Rejected>()("Rejected", { message: Schema.String }) {}

export const AgentRefusal = Schema.Union([Gone, Unauthorised, UpgradeRequired, Busy, Rejected])
export type AgentRefusal = typeof AgentRefusal.Type
