import { Effect, FileSystem, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Run } from "../../../schema/records/Run.ts"
import { mostStateBytes } from "../../../schema/records/StateUploadLimits.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed, misuse, PlanWaits, print, refused } from "../Output.ts"
import { onServer, Remote } from "../remote/Remote.ts"
import { waitTimeoutFlag, workspaceFlags } from "../remote/RemoteFlags.ts"
import { awaitRun } from "../remote/RunEnd.ts"
import { unreadable } from "../remote/InputText.ts"
import { patiently } from "../remote/Patience.ts"
import { workspaceNamed } from "../remote/Selection.ts"
import { installFlags, installRequest, plannedInstall, withGitConnection } from "../install/InstallRequest.ts"
import { anyNumber } from "../ValueFlags.ts"

const failed = (message: string) => new CommandFailed({ ...misuse, message })

const flags = {
  ...workspaceFlags,
  ...installFlags,
  waitTimeout: waitTimeoutFlag,
  source: Flag.String("source").pipe(
    Flag.withDescription("Git address of the module's repository"),
    Flag.withMetavar("url")
  ),
  undeclared: Flag.String("undeclared").pipe(
    Flag.withDescription(
      "A resource in the state that the module does not declare and that the plan may destroy; may be repeated"
    ),
    Flag.withMetavar("address"),
    anyNumber
  )
}

/** Reads the state file. Fails if it is larger than any server accepts. */
const stateOf = Effect.fnUntraced(function* (file: string) {
  const tooLarge = failed(`${file} is larger than ${mostStateBytes} bytes.`)
  if (file === "-") {
    const { stdin } = yield* Stdio.Stdio
    let size = 0
    const chunks = stdin.pipe(
      Stream.tap((chunk) => {
        size += chunk.length
        return size > mostStateBytes ? tooLarge : Effect.void
      })
    )
    return new Uint8Array(Buffer.concat(yield* Stream.runCollect(chunks)))
  }
  const files = yield* FileSystem.FileSystem
  return yield* Effect.gen(function* () {
    const { size } = yield* files.stat(file)
    return size > BigInt(mostStateBytes) ? yield* tooLarge : new Uint8Array(yield* files.readFile(file))
  }).pipe(Effect.catchTag("PlatformError", (cause) => unreadable(file, cause)))
})

const summaryOf = ({ error, planSummary, status }: Run): string => {
  if (planSummary === undefined) return `The plan is ${status}. ${error?.message ?? ""}`.trim()
  const { add, change, destroy, forget, replace } = planSummary
  return add + change + destroy + forget + replace === 0
    ? "The plan shows no changes: the module fits what is there."
    : `The plan would add ${add}, change ${change}, replace ${replace}, destroy ${destroy} and forget ${forget}.`
}

/** Adopts the state of existing infrastructure, and creates a plan for review. */
export const adoptCommand = Command.make(
  "adopt",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription(
        "The state: terraform.tfstate, or the output of `terraform state pull`; - for standard input"
      ),
      Argument.withMetavar("path")
    ),
    ...flags
  },
  Effect.fn("adopt")(function* ({ file, json, undeclared, ...given }) {
    const state = yield* stateOf(file)
    return yield* Effect.gen(function* () {
      const client = yield* SvcClient
      const { origin } = yield* Remote
      const workspace = yield* workspaceNamed(given.workspace)
      const params = { workspaceId: workspace.id }
      const key = () => ({ "idempotency-key": crypto.randomUUID() })
      // Check the request before uploading the state.
      const request = yield* withGitConnection(yield* installRequest(given.source, given), given)
      const { stateUpload } = yield* client.stateUploads.create({ params, headers: key(), payload: state })
      const { id: uploadId, sha256 } = stateUpload
      const adopt = { uploadId, sha256, ...(undeclared.length === 0 ? {} : { undeclared }) }
      const payload = { ...request, adopt }
      const created = yield* client.installPlans.create({ params, headers: key(), payload })
      const { capsuleId, planRunId } = yield* plannedInstall(
        created.installPlan,
        "The state was not taken over, and nothing was created:",
        given.waitTimeout
      )
      const plan = yield* patiently(client.runs.read({ params: { runId: planRunId } }))
      const run = yield* awaitRun(plan.run, given.waitTimeout, json)
      const review = `${origin}/w/${workspace.handle}/runs/${planRunId}`
      yield* print(
        json,
        { capsuleId, planRunId, status: run.status, planSummary: run.planSummary, review },
        [
          `${stateUpload.resourceCount === 1 ? "1 resource was" : `${stateUpload.resourceCount} resources were`} taken over as the state of the Capsule ${given.name} (${capsuleId}). Nothing was applied.`,
          summaryOf(run),
          "The old backend is not locked: withdraw access to it before you apply here.",
          `Review and apply: ${review}`
        ].join("\n")
      )
      if (run.status === "waiting_approval") return yield* new PlanWaits({ message: "The plan waits for approval." })
      return yield* refused(`The plan is ${run.status}.`)
    }).pipe(onServer(given))
  })
).pipe(Command.withDescription("Adopt the state of existing infrastructure, and create a plan for review"))
