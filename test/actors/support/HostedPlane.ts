import { Context, Duration, Effect, Layer } from "effect"
import { Users } from "../../../actors/access/account/Users.ts"
import { Capsules } from "../../../actors/commands/capsule/Capsules.ts"
import { InstallPolicy } from "../../../actors/ledger/configuration/InstallConfigCompilation.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { type EndpointAssignment, EndpointPolicy } from "../../../actors/inputs/delivery/EndpointPolicy.ts"
import { CapsuleClients } from "../../../actors/access/issuer/CapsuleClients.ts"
import { Grants } from "../../../actors/access/issuer/Grants.ts"
import { IssuerSettings } from "../../../actors/access/issuer/IssuerSettings.ts"
import { InstallPlans } from "../../../actors/commands/install-plan/InstallPlans.ts"
import { Runs } from "../../../actors/ledger/run/Runs.ts"
import * as Runtime from "../../../actors/Runtime.ts"
import { Workspaces } from "../../../actors/ledger/workspace/Workspaces.ts"
import { serveRepository } from "../../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { defaultOperatorPolicy } from "../../../schema/manifest/OperatorPolicy.ts"
import type { RunId, Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { RelativePath } from "../../../schema/records/Primitives.ts"
import { machine } from "../../../src/composition/Machine.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { storage } from "../../../src/composition/Storage.ts"
import { cleanupByHand, temporaryFolder, testSettings } from "../../support/ControlPlane.ts"
import { settled, stepped } from "../../support/Journey.ts"
import { hostedModules } from "./HostedModules.ts"
import { placeMigratedDatabase } from "../../support/MigratedDatabase.ts"
import { InstallPlanCommands } from "../../../schema/commands/InstallPlanCommands.ts"
import { RunCommands } from "../../../schema/commands/RunCommands.ts"

export const issuer = "https://svc.example.test"
export const siteOrigin = "https://site.example.test"
export const guardedOrigin = "https://guarded.example.test"
export const webOrigin = "https://web.example.test"

const at = (capsule: string, url: string): EndpointAssignment => ({
  workspace: "acme",
  capsule,
  environment: "test",
  url
})

const policies = Layer.mergeAll(
  Layer.succeed(EndpointPolicy, {
    endpoints: [
      at("web", webOrigin),
      at("shop", "https://shop.example.test"),
      at("site", siteOrigin),
      { ...at("guarded", guardedOrigin), postLogoutPaths: ["/goodbye"] }
    ]
  }),
  Layer.succeed(InstallPolicy, {
    policy: { ...defaultOperatorPolicy, allowedOidcScopes: ["openid", "profile"], runtimeOidcBindings: true }
  })
)

const identity = CapsuleClients.layer.pipe(
  Layer.provideMerge(Grants.layer),
  Layer.provide(Layer.succeed(IssuerSettings, { issuer, refreshReuseGrace: Duration.zero }))
)

/** A repository with modules that have requirements, and a person with a Workspace. */
export class Bench extends Context.Service<
  Bench,
  {
    readonly url: string
    readonly subject: Subject
    readonly context: CommandContext
    readonly workspaceId: WorkspaceId
    readonly otherWorkspaceId: WorkspaceId
  }
>()("test/actors/support/Bench") {}

/** The actors of a service that acts as an issuer, assigns endpoints to Capsules and runs the real tool. */
export const hostedPlane = Layer.unwrap(
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const gitdir = `${folder}/repository.git`
    yield* createRepository({ gitdir })
    yield* commitFiles({ gitdir, files: { ...hostedModules } })
    const repository = yield* serveRepository({ gitdir })
    const dataDir = `${folder}/data`
    yield* placeMigratedDatabase(dataDir)
    const settings = yield* testSettings({ dataDir, gitAllowOrigins: [repository.origin] })
    const people = Layer.effect(
      Bench,
      Effect.gen(function* () {
        const setup: CommandContext = { actor: { kind: "service" }, actorKey: "test" }
        const { subject } = yield* (yield* Users).create(setup, { email: "a@example.test", isOperator: true })
        const context: CommandContext = { actor: { kind: "user", subject }, actorKey: subject }
        const workspaces = yield* Workspaces
        const acme = yield* workspaces.create(context, subject, { handle: "acme" })
        const other = yield* workspaces.create(context, subject, { handle: "other" })
        return { url: repository.url, subject, context, workspaceId: acme.id, otherWorkspaceId: other.id }
      })
    )
    return people.pipe(
      Layer.provideMerge(Runtime.layer),
      Layer.provide(cleanupByHand),
      Layer.provideMerge(identity),
      Layer.provideMerge(machine(settings)),
      Layer.provideMerge(storage(settings)),
      Layer.provide(policies)
    )
  })
).pipe(Layer.provideMerge(platform))

let installs = 0

/** Installs a module from the repository and waits until its plan is reviewable or has failed. */
export const install = Effect.fnUntraced(function* (
  name: string,
  modulePath: string,
  options: { readonly workspaceId?: WorkspaceId } = {}
) {
  const { context, url, ...bench } = yield* Bench
  const workspaceId = options.workspaceId ?? bench.workspaceId
  const plans = yield* InstallPlans
  const installPlanCommands = yield* InstallPlanCommands
  const created = yield* plans.create(
    context,
    workspaceId,
    {
      source: { name, url },
      capsule: { name, environment: "test" },
      options: { modulePath: RelativePath.make(modulePath) }
    },
    { key: `install ${++installs}`, requestDigest: name }
  )
  return yield* stepped(installPlanCommands.Reconcile(created.value.id, { context }))
})

/** Approves a plan and applies it. */
export const applied = Effect.fnUntraced(function* (planRunId: RunId) {
  const { context } = yield* Bench
  const runs = yield* Runs
  const runCommands = yield* RunCommands
  yield* runCommands.Approve(planRunId, { context })
  return yield* settled((yield* runs.apply(context, planRunId, undefined)).value.id)
})

/** Installs a module and applies it. Fails the test if either step fails. */
export const deployed = Effect.fnUntraced(function* (
  name: string,
  modulePath: string,
  options: { readonly workspaceId?: WorkspaceId } = {}
) {
  const plan = yield* install(name, modulePath, options)
  if (plan.phase !== "reviewable" || plan.planRunId === undefined || plan.capsuleId === undefined) {
    return yield* Effect.die(new Error(JSON.stringify(plan.diagnostics)))
  }
  const run = yield* applied(plan.planRunId)
  if (run.status !== "succeeded") return yield* Effect.die(new Error(JSON.stringify(run.error)))
  return { capsuleId: plan.capsuleId, planRunId: plan.planRunId, run }
})

/** Returns a Capsule's public Outputs, keyed by name. */
export const outputsOf = Effect.fnUntraced(function* (capsuleId: Parameters<Capsules["Service"]["outputs"]>[0]) {
  const outputs = yield* (yield* Capsules).outputs(capsuleId)
  return Object.fromEntries(outputs.map(({ name, value }) => [name, value]))
})
