import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { RunId } from "../../../schema/records/Ids.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { print } from "../Output.ts"
import { openBrowser } from "./Browser.ts"
import { progress } from "./Progress.ts"
import { onServer, Remote } from "./Remote.ts"
import { workspaceFlags } from "./RemoteFlags.ts"
import { capsuleNamed, workspaceNamed } from "./Selection.ts"

const workspacePage = Effect.fnUntraced(function* (workspaceId: string) {
  const { origin } = yield* Remote
  const { workspaces } = yield* SvcClient
  const { workspace } = yield* workspaces.read({ params: { workspaceId } })
  return `${origin}/w/${workspace.handle}`
})

/** Returns the address of the dashboard page of a Run, a Capsule or the Workspace. */
const pageOf = Effect.fnUntraced(function* (what: Option.Option<string>, workspace: Option.Option<string>) {
  if (Option.isNone(what)) return yield* workspacePage((yield* workspaceNamed(workspace)).id)
  if (what.value.startsWith("run_")) {
    const { runs } = yield* SvcClient
    const { run } = yield* runs.read({ params: { runId: RunId.make(what.value) } })
    return `${yield* workspacePage(run.workspaceId)}/runs/${run.id}`
  }
  const capsule = yield* capsuleNamed(what.value, workspace)
  return `${yield* workspacePage(capsule.workspaceId)}/capsules/${capsule.id}`
})

export const openCommand = Command.make(
  "open",
  {
    ...workspaceFlags,
    print: Flag.Boolean("print").pipe(Flag.withDescription("Only print the address"), Flag.withDefault(false)),
    what: Argument.optional(
      Argument.String("what").pipe(
        Argument.withDescription("Name or id of a Capsule, or id of a Run; default: the Workspace")
      )
    )
  },
  Effect.fn("open")((given) =>
    Effect.gen(function* () {
      const url = yield* pageOf(given.what, given.workspace)
      yield* print(given.json, { url }, url)
      if (given.print || given.json) return
      if (!(yield* openBrowser(url))) yield* progress("No browser could be started here. Open the address yourself.")
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Open a Capsule, a Run or the Workspace in the dashboard, in your browser"),
  Command.withExamples([{ command: "svc open network --print", description: "The address of a Capsule" }])
)
