import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { isFinalStatus } from "../../../schema/records/RunTransitions.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { print, refused } from "../Output.ts"
import { patiently } from "./Patience.ts"
import { addressOf, showEnd } from "./PlanView.ts"
import { progress } from "./Progress.ts"
import { onServer } from "./Remote.ts"
import { waitTimeoutFlag, workspaceFlags } from "./RemoteFlags.ts"
import { runArgument } from "./RunArgument.ts"
import { awaitRun, endOf, isSettled } from "./RunEnd.ts"
import { runNamed } from "./Selection.ts"
import { terminalText } from "./TerminalText.ts"

/** Waits until enough people have approved a plan. Fails if the plan ends without being approved. */
const approvedRun = Effect.fn("approvedRun")(function* (
  run: Run,
  given: { readonly json: boolean; readonly waitTimeout: Parameters<typeof awaitRun>[1] }
) {
  const { approvals } = yield* SvcClient
  const standing = patiently(Effect.map(approvals.ofRun({ params: { runId: run.id } }), (answer) => answer.approvals))
  const isDecided = ({ status }: Run) => isFinalStatus(status)
  if (!isDecided(run) && !given.json) {
    const planned = yield* awaitRun(run, given.waitTimeout, given.json)
    if (!isDecided(planned)) {
      yield* progress(`${terminalText((yield* standing).message)} ${yield* patiently(addressOf(planned))}`)
    }
  }
  const ended = isDecided(run) ? run : yield* awaitRun(run, given.waitTimeout, given.json, isDecided)
  const approved = yield* standing
  if (given.json) yield* print(true, { run: ended, approvals: approved }, "")
  else yield* patiently(showEnd(ended))
  const isApproved = ended.status === "succeeded" && ended.approvedAt !== undefined && approved.state === "approved"
  if (!isApproved) return yield* refused(`The plan is ${ended.status} and not approved.`)
  if (!given.json) yield* progress(`Approved. Apply it with \`svc apply ${ended.id}\`.`)
})

export const waitCommand = Command.make(
  "wait",
  {
    ...workspaceFlags,
    waitTimeout: waitTimeoutFlag,
    approved: Flag.Boolean("approved").pipe(
      Flag.withDescription(
        "Wait until enough people have approved the plan; exits with 1 if the plan ends in any other way"
      ),
      Flag.withDefault(false)
    ),
    run: runArgument
  },
  Effect.fn("run wait")((given) =>
    Effect.gen(function* () {
      const run = yield* runNamed(given.run, given.workspace, () => true, "Run")
      if (given.approved) return yield* approvedRun(run, given)
      const ended = isSettled(run) ? run : yield* awaitRun(run, given.waitTimeout, given.json)
      if (given.json) yield* print(true, { run: ended }, "")
      else yield* patiently(showEnd(ended))
      yield* endOf(ended)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Wait until a Run finishes or needs approval, or until its plan is approved"),
  Command.withExamples([
    {
      command: "svc run wait network --approved --wait-timeout 2h",
      description: "In a pipeline, before `svc apply`, while another person decides"
    }
  ])
)
