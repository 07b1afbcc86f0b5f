import { readdir, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Option, Redacted, type Schema } from "effect"
import { jsonOfType } from "../../schema/json/ExactNumbers.ts"
import { folderDigest } from "../sandbox/TreeDigest.ts"
import { extractBuildArchive } from "./BuildArchive.ts"
import { cliConfiguration, mirroredProviders } from "./CliConfiguration.ts"
import type { CredentialDelivery } from "./CredentialDelivery.ts"
import { appliesUninstalled, plansUninstalled } from "./Installation.ts"
import {
  isAmbientFile,
  moduleManifest,
  overrideDocument,
  overrideFileName,
  reservedFileProblem,
  stateFileName,
  variableDocument,
  variableFileName
} from "./ModuleOverride.ts"
import { createPrivateFile, fileOperation, RunFileFailed, readOptional } from "./RunFiles.ts"
import { moduleFolder, planFileName, type RunFolderPaths, sandboxPaths } from "./RunFolder.ts"
import type { RunJob, RunVariable } from "./RunJob.ts"
import { type BuildArchive, RunPlace } from "./RunPlace.ts"
import type { StateFile } from "./StateFile.ts"

export const lockFileName = ".terraform.lock.hcl"
export const longestLock = 4 * 1024 * 1024

/**
 * The contents of the sandbox in addition to the job.
 *
 * - `inputs`: the content of the variable file, which is not written if it is empty
 * - `planFile`: the plan to apply; it already contains the provider arguments, and the tool refuses any others
 */
export interface Preparation {
  readonly delivery: CredentialDelivery
  readonly inputs: Readonly<Record<string, Pick<RunVariable, "type" | "value">>>
  readonly base: StateFile | undefined
  readonly build: BuildArchive | undefined
  readonly planFile: Redacted.Redacted<Uint8Array> | undefined
  /** `repository`: the module's own lock takes precedence. `given`: uses only the lock in the job. */
  readonly lock: "repository" | "given"
  /** Set to compute the digest of the module's tree, provided the tree alone determines which code is executed. */
  readonly wantsTree: boolean
}

/** Encodes inputs as a JSON variable file, with numbers in the tool's notation. */
export const variableFile = (inputs: Preparation["inputs"]): string => {
  const members = Object.entries(inputs).map(
    ([name, { type, value }]) => `${JSON.stringify(name)}:${jsonOfType(Redacted.value(value), type)}`
  )
  return `{${members.join()}}\n`
}

const json = (value: Schema.Json) => `${JSON.stringify(value)}\n`

const checkRootModule = Effect.fnUntraced(function* (folder: string, modulePath: string) {
  const isFolder = yield* fileOperation("find the module's folder", () =>
    stat(folder).then((entry) => entry.isDirectory())
  ).pipe(Effect.orElseSucceed(() => false))
  if (!isFolder) {
    return yield* new RunFileFailed({ message: `The snapshot contains no folder ${JSON.stringify(modulePath)}.` })
  }
  const names = yield* fileOperation("list the module's folder", () => readdir(folder))
  const problem = names.map(reservedFileProblem).find((candidate) => candidate !== undefined)
  if (problem !== undefined) return yield* new RunFileFailed({ message: problem })
  return names
})

const writeLock = Effect.fnUntraced(function* (folder: string, job: RunJob, lock: Preparation["lock"]) {
  const path = join(folder, lockFileName)
  if (lock === "repository") {
    const own = yield* readOptional(path, "read the module's lock file")
    if (own._tag === "Some") return
  }
  yield* fileOperation("remove the module's lock file", () => rm(path, { force: true }))
  if (job.lockText !== undefined) yield* createPrivateFile(path, job.lockText, "write the lock file")
})

/**
 * Writes everything that the tool will read, before any code of the module runs: the tree of the snapshot, the outputs of the
 * build, the runner's overrides, inputs, credentials, lock and state. Fails with `ExtractionFailed` or `RunFileFailed`. Returns
 * `uninstalled` if the tool can first be tried without an installation. In that case no backend override is written, because
 * the tool would then require an initialisation; if the module has a backend that the scan missed, the tool refuses to plan.
 */
export const prepareModule = Effect.fnUntraced(function* (
  paths: RunFolderPaths,
  job: RunJob,
  preparation: Preparation
) {
  const place = yield* RunPlace
  const mirror = yield* place.mirror
  const inside = (path: string) => join(paths.sandbox, path)
  const root = inside(moduleFolder(job.module.path))
  yield* place.extractModule(job.module.snapshotDigest, inside(sandboxPaths.source))
  const { build, delivery } = preparation
  if (build !== undefined) yield* extractBuildArchive(build, inside(sandboxPaths.source))
  // If there is a build, or a provider that uses a Connection, the tree does not determine the executed code, because both
  // run programs from outside the tree.
  const moduleTree =
    preparation.wantsTree && build === undefined && job.credentials.length === 0
      ? Option.getOrUndefined(yield* folderDigest(inside(sandboxPaths.source)))
      : undefined

  const names = yield* checkRootModule(root, job.module.path)
  yield* Effect.forEach(
    names.filter(isAmbientFile),
    (name) =>
      fileOperation(`remove ${JSON.stringify(name)} of the module`, () =>
        rm(join(root, name), { recursive: true, force: true })
      ),
    { discard: true }
  )

  const write = (path: string, content: string | Uint8Array, what: string) =>
    createPrivateFile(path, content, `write ${what}`)
  const standsAlone =
    preparation.planFile === undefined &&
    plansUninstalled(job, {
      base: preparation.base,
      hasBlocks: delivery.blocks.length > 0,
      hasBuild: build !== undefined,
      hasLock: names.includes(lockFileName)
    })
  if (!standsAlone) {
    yield* write(join(root, overrideFileName), json(overrideDocument(delivery.blocks)), "the backend override")
  }
  const variables = Object.keys(delivery.variables)
  if (variables.length > 0) {
    yield* write(join(root, variableFileName), json(variableDocument(variables)), "the runner's variables")
  }
  yield* write(
    join(root, ".terraform", "modules", "modules.json"),
    json(moduleManifest(job.localModules)),
    "the module manifest"
  )
  yield* writeLock(root, job, preparation.lock)
  if (job.state !== undefined) {
    yield* write(join(root, stateFileName), Redacted.value(job.state), "the state")
  }

  const mirrored = mirror === undefined || mirror.required ? [] : yield* mirroredProviders(mirror.path)
  yield* write(inside(sandboxPaths.cliConfiguration), cliConfiguration(mirror, mirrored), "the tool's configuration")
  const providerInputs = preparation.planFile === undefined ? delivery.variables : {}
  const ofProviders = Object.entries(providerInputs).map(([name, value]) => [name, { value }] as const)
  const inputs: Preparation["inputs"] = { ...preparation.inputs, ...Object.fromEntries(ofProviders) }
  const hasInputs = Object.keys(inputs).length > 0
  if (hasInputs) yield* write(inside(sandboxPaths.inputs), variableFile(inputs), "the inputs")
  yield* Effect.forEach(
    delivery.files,
    (file) => write(inside(file.path), Redacted.value(file.content), "a credential file"),
    { discard: true }
  )
  if (preparation.planFile !== undefined) {
    yield* write(
      inside(`${sandboxPaths.settings}/${planFileName}`),
      Redacted.value(preparation.planFile),
      "the plan file"
    )
  }
  const uninstalled = preparation.planFile === undefined ? standsAlone : appliesUninstalled(job)
  return { hasInputs, rootFolder: root, uninstalled, moduleTree }
})
