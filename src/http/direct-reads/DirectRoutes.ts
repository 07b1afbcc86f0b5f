import { Context, Effect, Exit, Option, Schema } from "effect"
import { Runs } from "../../../actors/run/Runs.ts"
import { Projects } from "../../../actors/workspace/Projects.ts"
import { Access } from "../../../schema/api/Access.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { Run } from "../../../schema/records/Run.ts"
import type { Project } from "../../../schema/records/Workspace.ts"
import { isRecordLocator } from "../authorization/WorkspaceLocation.ts"

interface Endpoint {
  readonly path: string
  readonly annotations: Context.Context<never>
}

/** Path and rule as the API declares them; only a record of one Workspace can be read so. */
const declared = ({ annotations, path }: Endpoint) => {
  const rule = Context.getUnsafe(annotations, Access)
  if (rule.kind !== "workspace" || !isRecordLocator(rule.locate)) {
    throw new Error(`${path} is not a record of a Workspace, so it cannot be read directly.`)
  }
  return { prefix: path.slice(0, path.indexOf(":")), rule, locator: rule.locate }
}

// Nothing of a Project is written otherwise than it is held: a field of another type would not compile here.
const encodeProject = (project: Project): { readonly project: (typeof Project)["Encoded"] } => ({ project })
const encodeRun = Schema.encodeSync(Schema.Struct({ run: Run }))
const decodeRunId = Schema.decodeOption(RunId)

/** The routes whose record can be had without waiting. `read` answers the body. */
export const directRoutes = Effect.gen(function* () {
  const projects = yield* Projects
  const runs = yield* Runs
  const context = yield* Effect.context<never>()
  return [
    {
      ...declared(SvcApi.groups.workspaces.endpoints.readProject),
      read: (id: string) => Option.map(projects.readAtOnce(id), encodeProject)
    },
    {
      ...declared(SvcApi.groups.runs.endpoints.read),
      read: (id: string) =>
        Option.flatMap(decodeRunId(id), (runId) =>
          // A queued Run asks for its place behind a writer: what would wait is left to the route.
          Option.map(Exit.getSuccess(Effect.runSyncExitWith(context)(runs.read(runId))), (run) => encodeRun({ run }))
        )
    }
  ]
})
