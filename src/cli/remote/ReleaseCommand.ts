import { intFlag } from "../ValueFlags.ts"
import { Console, Effect, Option } from "effect"
import { Command, Flag, Prompt, TerminalCapabilities } from "effect/cli"
import type { Run } from "../../../schema/records/Run.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { releaseRisk } from "../../ReleaseRisk.ts"
import { CommandFailed, misuse, print } from "../Output.ts"
import { releasedText } from "../ReleasedText.ts"
import { agentFacts } from "./AgentText.ts"
import { capsuleOfRun } from "./PlanView.ts"
import { onServer } from "./Remote.ts"
import { exitCodes } from "../ExitCodes.ts"
import { RemoteFailed } from "./RemoteFailed.ts"
import { workspaceFlags } from "./RemoteFlags.ts"
import { factsText } from "./Rows.ts"
import { runArgument } from "./RunArgument.ts"
import { runNamed } from "./Selection.ts"
import { isTypedName, terminalText } from "./TerminalText.ts"

const isRunning = ({ status }: Run) => status === "running"

/**
 * Returns the claim's fence, as the person saw it. It is read from the command line or, if absent there, from the Run, which
 * this function shows to the person for confirmation.
 */
const seenFence = Effect.fn("seenFence")(function* (
  run: Run,
  {
    fence,
    json,
    toolIsDead
  }: { readonly fence: Option.Option<number>; readonly json: boolean; readonly toolIsDead: boolean }
) {
  if (Option.isSome(fence)) {
    return toolIsDead
      ? fence.value
      : yield* new CommandFailed({ ...misuse, message: `${releaseRisk} Repeat the command with --tool-is-dead.` })
  }
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (json || !canPrompt) {
    return yield* new RemoteFailed({
      code: "usage",
      exitCode: exitCodes.usage,
      message: `Without a terminal nobody can be asked. Look at the Run with \`svc run get ${run.id}\`, then name what you saw with --fence, and --tool-is-dead.`
    })
  }
  if (run.agent === undefined)
    return yield* new CommandFailed({ message: `No agent holds ${run.id}: it is ${run.status}.` })
  const name = (yield* capsuleOfRun(run))?.name ?? run.id
  yield* Console.log(`${factsText([["id", run.id], ...agentFacts(run)])}\n\n${releaseRisk}\n`)
  const typed = yield* Prompt.run(
    Prompt.String({ message: `The tool is dead? Type ${terminalText(name)} to release it` })
  )
  return isTypedName(typed, name)
    ? run.agent.fence
    : yield* new CommandFailed({ message: "The Capsule was not released. It waits as before." })
})

export const releaseCommand = Command.make(
  "release",
  {
    ...workspaceFlags,
    fence: Flag.optional(
      intFlag("fence", 0).pipe(
        Flag.withDescription("Fence of the agent's claim as shown; required without a terminal"),
        Flag.withMetavar("number")
      )
    ),
    toolIsDead: Flag.Boolean("tool-is-dead").pipe(
      Flag.withDescription("Confirm that the Run's tool is no longer running"),
      Flag.withDefault(false)
    ),
    reason: Flag.optional(Flag.String("reason").pipe(Flag.withDescription("Reason, shown in the history"))),
    run: runArgument
  },
  Effect.fn("run release")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const { id } = yield* runNamed(given.run, given.workspace, isRunning, "Run under way")
      // Read the Run itself, because lists omit the agent that holds the Run.
      const shown = yield* client.runs.read({ params: { runId: id } })
      const fence = yield* seenFence(shown.run, given)
      const reason = Option.match(given.reason, { onNone: () => ({}), onSome: (text) => ({ reason: text }) })
      const { run } = yield* client.agentPools.release({
        params: { runId: id },
        payload: { fence, toolIsDead: true, ...reason }
      })
      yield* print(given.json, { run }, releasedText({ runId: id, status: run.status }))
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("Release a Capsule from a lost agent before the agent's lease expires"))
