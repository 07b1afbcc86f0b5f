import { Schema } from "effect"
import { JobKind } from "../../schema/agent/AgentJob.ts"
import { ApplyOutcome, DriftOutcome, LeftOver, PlanOutcome } from "../execution/RunOutcome.ts"
import { RunnerFailure } from "../execution/RunnerFailure.ts"

/*
 * The message that an agent sends when a job is over, sealed for the server. The plan file and the state are separate blobs, so
 * the message omits them (`planFile` empty, `state` absent) and the receiver restores them.
 */

const ended = <Kind extends typeof JobKind.Type, Outcome extends Schema.Top>(kind: Kind, outcome: Outcome) =>
  Schema.Struct({ kind: Schema.Literal(kind), status: Schema.Literal("ended"), outcome })

/**
 * - `ended`: the tool ran, or had nothing to do; the outcome has the details
 * - `failed`: there is no outcome; for an apply this means that the tool was not started and nothing was changed
 * - `left`: the tool stopped along with its agent or its lease, and the Run still belongs to the agent. Reports the files that an
 *   apply left; `null` if its tool was never started. A plan or a drift check changed nothing and starts over
 */
export const JobResult = Schema.Union([
  ended("plan", PlanOutcome),
  ended("apply", ApplyOutcome),
  ended("drift_check", DriftOutcome),
  Schema.Struct({ kind: JobKind, status: Schema.Literal("failed"), failure: RunnerFailure }),
  Schema.Struct({ kind: Schema.Literal("apply"), status: Schema.Literal("left"), left: Schema.NullOr(LeftOver) }),
  Schema.Struct({ kind: Schema.Literals(["plan", "drift_check"]), status: Schema.Literal("left") })
])
export type JobResult = typeof JobResult.Type
