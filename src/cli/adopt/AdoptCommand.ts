import { Effect, FileSystem, Option, Schedule, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CreateInstallPlan } from "../../../schema/api/InstallPlansApi.ts"
import type { InstallPlanId, RunId } from "../../../schema/records/Ids.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { mostStateBytes } from "../../../schema/records/StateUploadLimits.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { StoredLogins } from "../login/StoredLogins.ts"
import { CommandFailed, jsonFlag, PlanWaits, print, refused } from "../Output.ts"
import { connectionsOf } from "./ConnectionFlags.ts"
import { serverAccess } from "./ServerAccess.ts"

const failed = (message: string) => new CommandFailed({ message })

const decodeRequest = Schema.decodeUnknownEffect(CreateInstallPlan)
const VariablesFile = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))

const text = (name: string, description: string, metavar = "text") =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar))

const flags = {
  workspace: text("workspace", "Handle or id of the Workspace that takes it over", "handle"),
  source: text("source", "Git address of the module's repository", "url"),
  ref: text("ref", "Branch, tag or commit", "ref").pipe(Flag.withDefault("HEAD")),
  module: text("module", "Path of the module in the repository", "path").pipe(Flag.withDefault(".")),
  name: text("name", "Name of the Capsule that begins with the state"),
  environment: text("environment", "Its environment", "name").pipe(Flag.withDefault("production")),
  variables: Flag.optional(
    Flag.FileText("var-file").pipe(
      Flag.withDescription("File with the values of the module's variables, as one JSON object"),
      Flag.withMetavar("path")
    )
  ),
  connections: text(
    "connection",
    "A provider and the Connection for it, such as hashicorp/aws=conn_...; may be repeated",
    "provider=id"
  ).pipe(Flag.atLeast(0)),
  undeclared: text(
    "undeclared",
    "A resource of the state that the module does not declare and that the plan may destroy; may be repeated",
    "address"
  ).pipe(Flag.atLeast(0)),
  server: Flag.optional(text("server", "Origin of the server; SVC_URL, or the only login, when absent", "origin")),
  json: jsonFlag
}

/** The file, unless it is larger than any server would take. */
const stateOf = Effect.fnUntraced(function* (file: string) {
  const files = yield* FileSystem.FileSystem
  const { size } = yield* files.stat(file)
  if (size > BigInt(mostStateBytes)) return yield* failed(`${file} is larger than ${mostStateBytes} bytes.`)
  return new Uint8Array(yield* files.readFile(file))
})

const workspaceOf = Effect.fnUntraced(function* (named: string) {
  const client = yield* SvcClient
  const handles: Array<string> = []
  for (let cursor: string | undefined; ; ) {
    const page = yield* client.workspaces.list({ query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } })
    const found = page.workspaces.find(({ handle, id }) => handle === named || id === named)
    if (found !== undefined) return found
    handles.push(...page.workspaces.map(({ handle }) => handle))
    cursor = page.nextCursor
    if (cursor === undefined) break
  }
  return yield* failed(`You have no Workspace ${named}. There are: ${handles.join(", ")}.`)
})

const pollEvery = Schedule.spaced("500 millis")

/** Waits until the install has a plan; fails with the reasons of one that stopped. */
const planOf = Effect.fnUntraced(function* (installPlanId: InstallPlanId) {
  const client = yield* SvcClient
  const { installPlan } = yield* Effect.repeat(client.installPlans.read({ params: { installPlanId } }), {
    until: (answer) => answer.installPlan.nextAction !== "reconcile",
    schedule: pollEvery
  })
  if (installPlan.planRunId !== undefined && installPlan.capsuleId !== undefined)
    return { capsuleId: installPlan.capsuleId, planRunId: installPlan.planRunId }
  const reasons = installPlan.diagnostics.map(({ code, message }) => `  ${message} [${code}]`)
  return yield* failed(["The state was not taken over, and nothing was created:", ...reasons].join("\n"))
})

const settledRun = Effect.fnUntraced(function* (runId: RunId) {
  const client = yield* SvcClient
  const { run } = yield* Effect.repeat(client.runs.read({ params: { runId } }), {
    until: (answer) => answer.run.status !== "queued" && answer.run.status !== "running",
    schedule: pollEvery
  })
  return run
})

const summaryOf = ({ error, planSummary, status }: Run): string => {
  if (planSummary === undefined) return `The plan is ${status}. ${error?.message ?? ""}`.trim()
  const { add, change, destroy, forget, replace } = planSummary
  return add + change + destroy + forget + replace === 0
    ? "The plan shows no changes: the module fits what is there."
    : `The plan would add ${add}, change ${change}, replace ${replace}, destroy ${destroy} and forget ${forget}.`
}

/** Takes over the state of infrastructure that exists already, up to a plan that waits for its review. */
export const adoptCommand = Command.make(
  "adopt",
  {
    file: Argument.File("file", { mustExist: true }).pipe(
      Argument.withDescription("The state: terraform.tfstate, or what `terraform state pull` writes")
    ),
    ...flags
  },
  Effect.fn("adopt")(function* ({ connections, file, json, server, undeclared, variables, ...given }) {
    const state = yield* stateOf(file)
    const values = Option.isNone(variables)
      ? {}
      : yield* Schema.decodeEffect(VariablesFile)(variables.value).pipe(
          Effect.mapError(() => failed("--var-file: expected one JSON object with a value for each variable."))
        )
    const providerBindings = yield* connectionsOf(connections)
    const access = yield* serverAccess(server)
    return yield* Effect.gen(function* () {
      const client = yield* SvcClient
      const workspace = yield* workspaceOf(given.workspace)
      const params = { workspaceId: workspace.id }
      const key = () => ({ "idempotency-key": crypto.randomUUID() })
      const { stateUpload } = yield* client.stateUploads.create({ params, headers: key(), payload: state })
      const payload = yield* decodeRequest({
        source: { name: given.name, url: given.source, ref: given.ref },
        capsule: { name: given.name, environment: given.environment },
        options: { modulePath: given.module, providerBindings },
        variables: values,
        adopt: {
          uploadId: stateUpload.id,
          sha256: stateUpload.sha256,
          ...(undeclared.length === 0 ? {} : { undeclared })
        }
      }).pipe(Effect.mapError(({ message }) => failed(`The request is not valid: ${message}`)))
      const created = yield* client.installPlans.create({ params, headers: key(), payload })
      const { capsuleId, planRunId } = yield* planOf(created.installPlan.id)
      const run = yield* settledRun(planRunId)
      const review = `${access.origin}/w/${workspace.handle}/runs/${planRunId}`
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
    }).pipe(Effect.provide(SvcClient.layer({ baseUrl: access.origin, token: access.token })))
  }, Effect.provide(StoredLogins.layer))
).pipe(Command.withDescription("Take over the state of existing infrastructure, up to a plan that waits for review"))
