import { mkdir, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { Users } from "../../actors/access/account/Users.ts"
import { type CommandContext, serviceContext } from "../../schema/commands/Command.ts"
import { RunSettings, type RunSettingsShape } from "../../actors/ledger/run/RunSettings.ts"
import type { Commits } from "../../actors/base/database/Commits.ts"
import { SharedDatabase } from "../../actors/base/node/Nodes.ts"
import * as Runtime from "../../actors/Runtime.ts"
import { Workspaces } from "../../actors/ledger/workspace/Workspaces.ts"
import type { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import { GitPolicy, type GitLimits } from "../../runner/git/GitPolicy.ts"
import { GitRemote } from "../../runner/git/GitRemote.ts"
import { serveRepository } from "../../src/testing/git-server/GitServer.ts"
import { InstalledGit } from "../../runner/git/InstalledGit.ts"
import { type CommitFiles, commitFiles, createRepository } from "../../src/testing/git-server/RepositoryWriter.ts"
import { Sandbox } from "../../runner/sandbox/Sandbox.ts"
import {
  defaultSandboxSettings,
  SandboxSettings,
  type SandboxSettingsShape
} from "../../runner/sandbox/SandboxSettings.ts"
import type { Toolchain } from "../../runner/toolchain/Toolchain.ts"
import { SnapshotSync } from "../../runner/snapshot/SnapshotSync.ts"
import type { Role } from "../../schema/records/Workspace.ts"
import type { WorkspaceId } from "../../schema/records/Ids.ts"
import { machineWith } from "../../src/composition/Machine.ts"
import { platform } from "../../src/composition/Platform.ts"
import { offlineMailSettings } from "../../src/composition/Mail.ts"
import { type DatabaseServices, storageOver } from "../../src/composition/Storage.ts"
import * as Database from "../../src/database/Database.ts"
import type { Settings } from "../../src/settings/Settings.ts"
import { joinWorkspace } from "./Accounts.ts"
import { cleanupByHand, temporaryFolder, testSettings } from "./ControlPlane.ts"
import { placeMigratedDatabase } from "./MigratedDatabase.ts"
import { providerMirror } from "./ProviderMirror.ts"

/** The demo provider's address in the mirror. */
export const demo = "example.test/acme/demo"

export interface TestPlaneOptions {
  readonly run?: Partial<RunSettingsShape>
  readonly git?: Partial<GitLimits>
  readonly settings?: Partial<Settings>
  /** Additional Git servers from which the service may read. */
  readonly gitOrigins?: ReadonlyArray<string>
  readonly sandbox?: Partial<SandboxSettingsShape>
  /** The schedule of the service's background work; never by default. */
  readonly cleanup?: Layer.Layer<never>
  /** Replaces the shipped runner, together with the tool that it simulates. */
  readonly runner?: Layer.Layer<ModuleRunner | Toolchain, never, SqlClient.SqlClient>
  /** True if the service shares its database with other services. */
  readonly shared?: boolean
  /** The other service with which this service shares a database, if any. */
  readonly database?: Layer.Layer<DatabaseServices>
  /** Wraps the service's writing database client. */
  readonly writer?: Layer.Layer<SqlClient.SqlClient, never, Commits | SqlClient.SqlClient>
}

/** The environment of a service under test. */
export class TestPlane extends Context.Service<
  TestPlane,
  {
    /** The owner of the Workspace. */
    readonly context: CommandContext
    readonly workspaceId: WorkspaceId
    readonly dataDir: string
    /** The folder where the demo provider creates its notes. */
    readonly notesDir: string
    readonly url: string
    /** Commits exactly these files on a branch, and returns the commit. */
    readonly commit: (branch: string, files: CommitFiles) => Effect.Effect<string>
    /** Simulates a force-push: points the branch at this commit, or deletes it. */
    readonly moveBranch: (branch: string, commit: string | undefined) => Effect.Effect<void>
  }
>()("test/support/TestPlane") {}

/** Creates a person with a Workspace. */
export const newOwner = Effect.fnUntraced(function* (name: string) {
  const user = yield* (yield* Users).create(serviceContext, { email: `${name}@example.test`, isOperator: false })
  const context: CommandContext = { actor: { kind: "user", subject: user.subject }, actorKey: user.subject }
  const workspaces = yield* Workspaces
  yield* workspaces.ensurePersonal(context, user.subject)
  const [workspace] = (yield* workspaces.list(user.subject, { limit: 1 })).workspaces
  return workspace === undefined ? yield* Effect.die("no Workspace") : { context, workspaceId: workspace.id }
})

/** Adds a member to another person's Workspace. */
export const newMember = Effect.fnUntraced(function* (workspaceId: WorkspaceId, owner: CommandContext, role: Role) {
  const { actor } = owner
  if (actor.subject === undefined) return yield* Effect.die("The owner is no person")
  const { context } = yield* newOwner(`${role}-${crypto.randomUUID()}`)
  if (context.actor.subject === undefined) return yield* Effect.die("The member is no person")
  yield* joinWorkspace(actor.subject, workspaceId, context.actor.subject, role)
  return context
})

/** Builds the shipped sandbox, with the demo provider made visible. */
const sandbox = (
  { dataDir, mirror }: Pick<TestPlaneEnvironment, "dataDir" | "mirror">,
  changed: Partial<SandboxSettingsShape> = {}
) =>
  Sandbox.layer.pipe(
    Layer.provide(
      Layer.succeed(SandboxSettings, {
        ...defaultSandboxSettings,
        ownFolder: `${dataDir}/sandbox`,
        network: { ...defaultSandboxSettings.network, reach: "host" },
        extraReadOnly: [mirror.interpreter],
        extraWritable: [mirror.notesDir],
        ...changed
      })
    )
  )

/** The environment of the service, which outlives the service. */
export interface TestPlaneEnvironment {
  readonly dataDir: string
  readonly mirror: { readonly path: string; readonly interpreter: string; readonly notesDir: string }
  readonly origins: ReadonlyArray<string>
}

/** Builds the shipped layers, with the demo provider made visible in the sandbox and settings that a test can replace. */
export const planeAt = ({ dataDir, mirror, origins }: TestPlaneEnvironment, options: TestPlaneOptions = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      yield* placeMigratedDatabase(dataDir)
      const settings = yield* testSettings({
        dataDir,
        gitAllowOrigins: origins,
        providerMirror: mirror.path,
        providerMirrorRequired: true,
        ...options.settings
      })
      const runSettings = Layer.effect(
        RunSettings,
        Effect.map(RunSettings, (shipped) => ({ ...shipped, ...options.run }))
      )
      const git = Layer.fresh(SnapshotSync.layer).pipe(
        Layer.provide(Layer.fresh(Layer.mergeAll(GitRemote.layer, InstalledGit.layer))),
        Layer.provideMerge(GitPolicy.layerWith({ allowOrigins: origins, limits: options.git ?? {} }))
      )
      const replaced = Layer.mergeAll(
        options.cleanup ?? cleanupByHand,
        ...(options.runner === undefined ? [] : [options.runner]),
        runSettings,
        ...(options.shared === true ? [Layer.succeed(SharedDatabase, true)] : []),
        ...(options.git === undefined ? [] : [git])
      )
      const database = (options.writer ?? Layer.empty).pipe(Layer.provideMerge(options.database ?? Database.layer))
      return Runtime.layer.pipe(
        Layer.provideMerge(replaced),
        Layer.provideMerge(machineWith(settings, sandbox({ dataDir, mirror }, options.sandbox))),
        Layer.provideMerge(storageOver(settings, database).pipe(Layer.provide(offlineMailSettings(settings))))
      )
    })
  )

/** Creates and serves a repository on a separate server, with one commit unless the test needs it empty. */
export const servedRepository = Effect.fnUntraced(function* (gitdir: string, isEmpty = false) {
  yield* createRepository({ gitdir })
  if (!isEmpty) yield* commitFiles({ gitdir, files: { "README.md": "nothing here" } })
  const { origin, url } = yield* serveRepository({ gitdir })
  const moveBranch = (branch: string, commit: string | undefined) => {
    const file = `${gitdir}/refs/heads/${branch}`
    return Effect.promise(async () => {
      if (commit === undefined) return rm(file)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, `${commit}\n`)
    })
  }
  return {
    origin,
    url,
    commit: (branch: string, files: CommitFiles) => commitFiles({ gitdir, files, branch }),
    moveBranch
  }
})

/** A service with a separate data folder, Git servers, provider mirror and owner. */
export const testPlane = (options: TestPlaneOptions = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { commit, moveBranch, origin, url } = yield* servedRepository(`${folder}/repository.git`)
      const mirror = yield* providerMirror
      const dataDir = `${folder}/data`
      const owner = Layer.effect(
        TestPlane,
        Effect.map(newOwner("owner"), ({ context, workspaceId }) =>
          TestPlane.of({
            context,
            workspaceId,
            dataDir,
            notesDir: mirror.notesDir,
            url,
            commit,
            moveBranch
          })
        )
      )
      return owner.pipe(
        Layer.provideMerge(planeAt({ dataDir, mirror, origins: [origin, ...(options.gitOrigins ?? [])] }, options))
      )
    })
  ).pipe(Layer.provideMerge(platform))
