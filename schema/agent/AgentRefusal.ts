import { Schema } from "effect"

/**
 * The Run no longer belongs to this agent under this fence. The agent must write nothing more, and must submit its state and
 * journal as evidence.
 */
export class Gone extends Schema.TaggedError<Gone>()("Gone", { message: Schema.String }) {}

/** The session, the agent or its enrolment token is not valid. `retry` is true if the server would accept a new session. */
export class Unauthorised extends Schema.TaggedError<Unauthorised>()("Unauthorised", {
  message: Schema.String,
  retry: Schema.Boolean
}) {}

/** The server does not support this version. `message` contains the required version. Runs in progress keep their lease. */
export class UpgradeRequired extends Schema.TaggedError<UpgradeRequired>()("UpgradeRequired", {
  message: Schema.String
}) {}

/** The server cannot accept the request now, for example because its disk is full. The request can be repeated safely. */
export class Busy extends Schema.TaggedError<Busy>()("Busy", {
  message: Schema.String,
  retryAfterSeconds: Schema.Int
}) {}

/** The request is invalid and must not be repeated. */
export class Rejected extends Schema.TaggedError<Rejected>()("Rejected", { message: Schema.String }) {}

export const AgentRefusal = Schema.Union([Gone, Unauthorised, UpgradeRequired, Busy, Rejected])
export type AgentRefusal = typeof AgentRefusal.Type
