import { Schema } from "effect"
import { JobKind } from "../../schema/agent/AgentJob.ts"
import { ApplyOutcome, DriftOutcome, UnfinishedApply, PlanOutcome } from "../execution/RunOutcome.ts"
import { RunnerFailure } from "../execution/RunnerFailure.ts"

/*
 * The sealed message that an agent sends when a job has ended. The plan file and the state are separate blobs, so the message
 * omits them (`planFile` is empty, `state` absent) and the receiver adds them.
 */

const ended = <Kind extends typeof JobKind.Type, Outcome extends Schema.Top>(kind: Kind, outcome: Outcome) =>
  Schema.Struct({ kind: Schema.Literal(kind), status: Schema.Literal("ended"), outcome })

/**
 * - `ended`: the tool ran, or had nothing to do; see the outcome
 * - `failed`: there is no outcome; for an apply, the tool was not started and nothing changed
 * - `left`: the tool stopped with its agent or lease, and the Run still belongs to the agent; contains the remains of an
 *   apply, or `null` if its tool never started; a plan or drift check changed nothing and starts over
 */
export const JobResult = Schema.Union([
  ended("plan", PlanOutcome),
  ended("apply", ApplyOutcome),
  ended("drift_check", DriftOutcome),
  Schema.Struct({ kind: JobKind, status: Schema.Literal("failed"), failure: RunnerFailure }),
  Schema.Struct({
    kind: Schema.Literal("apply"),
    status: Schema.Literal("left"),
    left: Schema.NullOr(UnfinishedApply)
  }),
  Schema.Struct({ kind: Schema.Literals(["plan", "drift_check"]), status: Schema.Literal("left") })
])
export type JobResult = typeof JobResult.Type
