import { Effect, FileSystem, Redacted } from "effect"
import { Users } from "../../actors/access/account/Users.ts"
import { ApprovalRules } from "../../actors/access/approval/ApprovalRules.ts"
import { type CommandContext, serviceContext } from "../../schema/commands/Command.ts"
import { InstallPlans } from "../../actors/commands/install-plan/InstallPlans.ts"
import { awaitRun } from "../../actors/ledger/run/RunJournal.ts"
import { Runs } from "../../actors/ledger/run/Runs.ts"
import { Sources } from "../../actors/ledger/source/Sources.ts"
import { Workspaces } from "../../actors/ledger/workspace/Workspaces.ts"
import { joinWorkspace } from "../support/Accounts.ts"
import { freshKey, stepped } from "../support/Journey.ts"
import { servedRepository } from "../support/TestPlane.ts"
import { pureModule } from "../actors/support/PureRunner.ts"
import type { CapsuleId, SourceId, Subject, WorkspaceId } from "../../schema/records/Ids.ts"
import { RelativePath } from "../../schema/records/Primitives.ts"
import { driftHours } from "./YearDrift.ts"
import { quiet } from "./YearQuiet.ts"
import type { YearClock } from "./YearClock.ts"
import type { YearSize } from "./YearSize.ts"
import { CapsuleCommands } from "../../schema/commands/CapsuleCommands.ts"
import { InstallPlanCommands } from "../../schema/commands/InstallPlanCommands.ts"
import { RunCommands } from "../../schema/commands/RunCommands.ts"
import { SourceCommands } from "../../schema/commands/SourceCommands.ts"

export type Repository = Effect.Success<ReturnType<typeof servedRepository>>

export interface YearSource {
  readonly id: SourceId
  readonly named: CheckedSource["named"]
  readonly hookSecret: Redacted.Redacted
  readonly repository: Repository
  readonly capsules: ReadonlyArray<CapsuleId>
}

export interface YearWorkspace {
  readonly id: WorkspaceId
  readonly owner: Person
  readonly admin: Person
  readonly sources: ReadonlyArray<YearSource>
}

export interface Person {
  readonly subject: Subject
  readonly context: CommandContext
}

/** Returns the files in a commit. The module never changes, but the other files do. */
export const filesOf = (commit: number) => ({
  ...pureModule,
  "README.md": `The ${commit}th commit.\n`,
  "notes/history.md": Array.from({ length: 40 }, (_, index) => `Line ${index} of commit ${commit}.`).join("\n")
})

const newPerson = Effect.fnUntraced(function* (name: string): Effect.fn.Return<Person, unknown, Users> {
  const { subject } = yield* (yield* Users).create(serviceContext, { email: `${name}@example.test`, isOperator: false })
  return { subject, context: { actor: { kind: "user", subject }, actorKey: subject } }
})

/** Creates repositories on separate servers, which keep running while the service restarts. */
export const repositories = Effect.fnUntraced(function* (size: YearSize, folder: string) {
  yield* (yield* FileSystem.FileSystem).makeDirectory(folder, { recursive: true })
  return yield* Effect.forEach(
    Array.from({ length: size.workspaces * size.sourcesPerWorkspace }),
    Effect.fnUntraced(function* (_, index) {
      const repository = yield* servedRepository(`${folder}/repository-${index}.git`, true)
      yield* repository.commit("main", filesOf(0))
      return repository
    })
  )
})

/** Returns the records that the first plan of the current commit needs. */
export const preflightOf = Effect.fnUntraced(function* (context: CommandContext, sourceId: SourceId) {
  const sources = yield* Sources
  const { id } = yield* sources.sync(context, sourceId, { intent: "manual_plan" })
  yield* awaitRun(id)
  const { sourceSnapshotId } = yield* (yield* Runs).read(id)
  if (sourceSnapshotId === undefined) return yield* Effect.die(new Error(`${sourceId} could not be synced`))
  const modulePath = RelativePath.make(".")
  const check = yield* sources.checkCompatibility(context, sourceId, { sourceSnapshotId, modulePath })
  return {
    sourceId,
    sourceSnapshotId,
    compatibilityCheckRunId: check.run.id,
    compatibilityReportId: check.compatibilityReport.id
  }
})

/** Creates a Source, and checks its first commit. All Capsules of the Source start from this commit. */
const checkedSource = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  { context }: Person,
  { url }: Repository,
  name: string
) {
  const sources = yield* Sources
  const { hookSecret, source } = yield* sources.create(context, { workspaceId, name, url, defaultRef: "main" })
  const preflight = yield* preflightOf(context, source.id)
  return { id: source.id, hookSecret: Redacted.make(hookSecret), preflight, named: { name, url, ref: "main" } }
})

type CheckedSource = Pick<Effect.Success<ReturnType<typeof checkedSource>>, "preflight" | "named">

export const installed = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  { context }: Person,
  { named, preflight }: CheckedSource,
  name: string
) {
  const installs = yield* InstallPlans
  const installPlanCommands = yield* InstallPlanCommands
  const request = {
    source: named,
    capsule: { name, environment: name.endsWith("0") ? "production" : "test" },
    options: { modulePath: RelativePath.make(".") },
    preflight
  }
  const created = yield* installs.create(context, workspaceId, request, freshKey())
  const plan = yield* stepped(installPlanCommands.Reconcile(created.value.id, { context }))
  if (plan.planRunId === undefined || plan.capsuleId === undefined) {
    return yield* Effect.die(new Error(`${name} is not reviewable: ${JSON.stringify(plan)}`))
  }
  const runs = yield* Runs
  const runCommands = yield* RunCommands
  yield* awaitRun(plan.planRunId)
  yield* runCommands.Approve(plan.planRunId, { context })
  yield* awaitRun((yield* runs.apply(context, plan.planRunId, undefined)).value.id)
  return plan.capsuleId
})

/** Creates people, their Workspaces, and Capsules that have been applied and follow their Sources. */
export const settle = Effect.fnUntraced(function* (size: YearSize, time: YearClock, served: ReadonlyArray<Repository>) {
  const workspaces = yield* Workspaces
  const capsules = yield* CapsuleCommands
  const sources = yield* SourceCommands
  const rules = yield* ApprovalRules
  return yield* Effect.forEach(
    Array.from({ length: size.workspaces }),
    Effect.fnUntraced(function* (_, index) {
      const owner = yield* newPerson(`owner-${index}`)
      const admin = yield* newPerson(`admin-${index}`)
      const { id } = yield* workspaces.create(owner.context, owner.subject, { handle: `year-${index}` })
      yield* joinWorkspace(owner.subject, id, admin.subject, "admin")
      const own = served.slice(index * size.sourcesPerWorkspace, (index + 1) * size.sourcesPerWorkspace)
      const followed: Array<YearSource> = []
      for (const [place, repository] of own.entries()) {
        const source = yield* checkedSource(id, owner, repository, `source-${place}`)
        const ids: Array<CapsuleId> = []
        for (let number = 0; number < size.capsulesPerSource; number++) {
          const capsuleId = yield* installed(id, owner, source, `app-${place}-${number}`)
          ids.push(capsuleId)
          // Three of every four Capsules follow their lane. One of these three waits for approval before an apply.
          if (number % 4 === 0) continue
          const autoUpdate = { enabled: true, apply: number % 4 > 1 }
          yield* capsules.Update(capsuleId, { context: owner.context, autoUpdate })
        }
        yield* sources.Update(source.id, { context: owner.context, request: { autoSync: true } })
        followed.push({ id: source.id, named: source.named, hookSecret: source.hookSecret, repository, capsules: ids })
      }
      yield* workspaces.update(owner.context, owner.subject, id, { driftChecks: { mode: "every", hours: driftHours } })
      // In one Workspace a second person has to approve changes to production.
      if (index === 0) {
        yield* rules.create(
          owner.context,
          { workspaceId: id, subject: owner.subject },
          { environment: "production", approvers: 1, role: "admin" }
        )
      }
      yield* quiet(time)
      return { id, owner, admin, sources: followed }
    })
  )
})
