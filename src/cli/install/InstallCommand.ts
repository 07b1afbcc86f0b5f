import { Clock, Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { SvcClient } from "../../client/SvcClient.ts"
import { changeFlags, planned } from "../remote/PlanCommands.ts"
import { patiently } from "../remote/Patience.ts"
import { progress } from "../remote/Progress.ts"
import { onServer } from "../remote/Remote.ts"
import { idempotencyKeyFlag, keyHeaders } from "../remote/RemoteFlags.ts"
import { workspaceNamed } from "../remote/Selection.ts"
import { installFlags, installRequest, plannedInstall, withGitConnection } from "./InstallRequest.ts"

/** Creates a Capsule from a module in a repository, and a plan for review. */
export const installCommand = Command.make(
  "install",
  {
    ...changeFlags,
    ...installFlags,
    idempotencyKey: idempotencyKeyFlag,
    url: Argument.String("url").pipe(Argument.withDescription("Git address of the repository"))
  },
  Effect.fn("install")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const payload = yield* withGitConnection(yield* installRequest(given.url, given), given)
      const workspace = yield* workspaceNamed(given.workspace)
      const headers = yield* keyHeaders(given.idempotencyKey)
      const created = yield* client.installPlans.create({ params: { workspaceId: workspace.id }, headers, payload })
      if (!given.json) yield* progress(`Reading ${given.url} ...`)
      const begun = yield* Clock.currentTimeMillis
      const { planRunId } = yield* plannedInstall(
        created.installPlan,
        "The module was not installed:",
        given.waitTimeout
      )
      const { run } = yield* patiently(client.runs.read({ params: { runId: planRunId } }))
      const spent = (yield* Clock.currentTimeMillis) - begun
      yield* planned(run, { ...given, waitTimeout: Option.map(given.waitTimeout, (most) => Math.max(0, most - spent)) })
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Install a module from a Git repository as a Capsule, and create a plan for approval"),
  Command.withExamples([
    {
      command: "svc install https://git.example.com/infra.git --module network --name network --var-file values.json",
      description: "With the values of a file"
    }
  ])
)
