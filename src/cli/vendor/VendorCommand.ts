import { Effect, FileSystem, Option, Path, Schema, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { classifyModuleSource, shownModuleSource } from "../../../runner/scan/ModuleSource.ts"
import { toolExecutables } from "../../../runner/toolchain/Tool.ts"
import { findOnPath } from "../../../runner/toolchain/ToolSearch.ts"
import { ToolIdentity } from "../../../schema/records/Run.ts"
import { CommandFailed, jsonFlag, misuse, print } from "../Output.ts"
import { type NewSources, withSources } from "./ModuleCalls.ts"

const failed = (message: string) => new CommandFailed({ message })

/** The tool's list of installed modules. */
const InstalledModules = Schema.fromJsonString(
  Schema.Struct({
    Modules: Schema.Array(
      Schema.Struct({
        /** The path of the module: call names from the root module, separated by dots; empty for the root module. */
        Key: Schema.String,
        Source: Schema.String,
        Version: Schema.optionalKey(Schema.String),
        /** Folder of the module, relative to the root module. */
        Dir: Schema.String
      })
    )
  })
)

interface VendoredModule {
  /** The source without its credentials or query string. */
  readonly source: string
  readonly version?: string
  /** The commit, if the source is a Git repository. */
  readonly commit?: string
  /** Folder of the copy, relative to the root module. */
  readonly folder: string
}

const dataFolder = "TF_DATA_DIR"
const vendorFolder = "vendor"
const configExtension = /\.(?:tf|tofu)(?:\.json)?$/

/** Splits a source into the package and the folder inside the package. */
const splitSource = (source: string) => {
  const from = source.indexOf("://") + 3
  const at = source.indexOf("//", source.includes("://") ? from : 0)
  if (at < 0) return { package: source, folder: "" }
  const [folder = "", query] = source.slice(at + 2).split("?")
  return { package: source.slice(0, at) + (query === undefined ? "" : `?${query}`), folder }
}

/** Derives the name of a package's folder from the package's address and version. */
const folderName = (address: string, version: string | undefined) => {
  const [place = "", query = ""] = address.split("?")
  const ref = version ?? new URLSearchParams(query).get("ref") ?? ""
  const name = place
    .replace(/\.git$/, "")
    .split(/[/:]/)
    .filter((part) => part !== "")
    .slice(-3)
    .join("-")
  return `${name}${ref === "" ? "" : `-${ref}`}`.replaceAll(/[^\w.-]+/g, "-").replace(/^[-.]+/, "")
}

const run = Effect.fnUntraced(function* (
  cwd: string,
  program: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(ChildProcess.make(program, args, { cwd, env, extendEnv: true, stdin: "ignore" }))
  const text = (stream: typeof handle.stdout) => Stream.mkString(Stream.decodeText(stream))
  const [stdout, stderr, code] = yield* Effect.all([text(handle.stdout), text(handle.stderr), handle.exitCode], {
    concurrency: 3
  })
  return { stdout, stderr, ok: Number(code) === 0 }
}, Effect.scoped)

const succeed = Effect.fnUntraced(function* (cwd: string, program: string, args: ReadonlyArray<string>) {
  const { ok, stderr, stdout } = yield* run(cwd, program, args)
  if (!ok) return yield* failed(`${program} ${args[0]} failed: ${stderr.trim()}`)
  return stdout.trim()
})

/** Uses the tool to download the modules into a folder outside the checkout. */
const install = Effect.fn("vendor.install")(function* (root: string, downloads: string, name: ToolIdentity["name"]) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const executable = toolExecutables[name]
  const tool = yield* findOnPath(process.env["PATH"] ?? "", executable)
  if (Option.isNone(tool)) {
    return yield* new CommandFailed({ ...misuse, message: `${executable} is not on PATH. It downloads the modules.` })
  }
  const got = yield* run(root, tool.value.path, ["get", "-no-color"], { [dataFolder]: downloads })
  if (!got.ok) return yield* failed(`${executable} get failed:\n${got.stderr.trim()}`)
  const list = path.join(downloads, "modules/modules.json")
  if (!(yield* files.exists(list))) return []
  const { Modules } = yield* Schema.decodeEffect(InstalledModules)(yield* files.readFileString(list)).pipe(
    Effect.catchTag("SchemaError", () => failed(`${executable} wrote a list of modules in an unknown format.`))
  )
  return Modules
})

/** Lists the files of a package, without Git's metadata files. Rejects links, because snapshots contain no links. */
const packageFiles = Effect.fn("vendor.packageFiles")(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* files.readDirectory(folder, { recursive: true })
  const kept: Array<string> = []
  for (const name of names) {
    if (name.split(path.sep).includes(".git")) continue
    const link = yield* Effect.option(files.readLink(path.join(folder, name)))
    if (Option.isSome(link)) return yield* failed(`${name} is a symbolic link, which svc does not store.`)
    if ((yield* files.stat(path.join(folder, name))).type === "File") kept.push(name)
  }
  return kept
})

type InstalledModule = Effect.Success<ReturnType<typeof install>>[number]

/** Returns true if the called module is neither in the checkout nor in the caller's package. */
const isRemote = ({ Key, Source }: InstalledModule) => Key !== "" && classifyModuleSource(Source).kind !== "local"

const identityOf = ({ Source, Version }: InstalledModule) => `${splitSource(Source).package} ${Version ?? ""}`

/** Copies each downloaded package once into the folder `vendor`, even if several calls use it. */
const copyPackages = Effect.fn("vendor.copyPackages")(function* (
  root: string,
  downloads: string,
  modules: ReadonlyArray<InstalledModule>
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const copies = new Map<string, VendoredModule>()
  for (const module of modules.filter(isRemote)) {
    if (copies.has(identityOf(module))) continue
    const from = path.join(downloads, "modules", module.Key)
    const address = splitSource(module.Source).package
    const wanted = `${vendorFolder}/${folderName(address, module.Version)}`
    const taken = new Set([...copies.values()].map(({ folder }) => folder))
    let folder = wanted
    for (let next = 2; taken.has(folder); next++) folder = `${wanted}-${next}`
    const target = path.join(root, folder)
    yield* files.remove(target, { recursive: true, force: true })
    for (const file of yield* packageFiles(from)) {
      yield* files.makeDirectory(path.dirname(path.join(target, file)), { recursive: true })
      yield* files.copyFile(path.join(from, file), path.join(target, file))
    }
    const isRepository = yield* files.exists(path.join(from, ".git"))
    const commit = isRepository ? yield* succeed(from, "git", ["rev-parse", "HEAD"]) : undefined
    copies.set(identityOf(module), {
      source: shownModuleSource(address),
      ...(module.Version === undefined ? {} : { version: module.Version }),
      ...(commit === undefined ? {} : { commit }),
      folder
    })
  }
  return copies
})

/** Returns the new sources, grouped by the folder of the caller. */
const newSources = (
  path: Path.Path,
  root: string,
  modules: ReadonlyArray<InstalledModule>,
  copies: ReadonlyMap<string, VendoredModule>
) => {
  const byKey = new Map(modules.map((module) => [module.Key, module]))
  const callerOf = (key: string) => key.split(".").slice(0, -1).join(".")
  const placeOf = (key: string): string => {
    const module = byKey.get(key)
    if (module === undefined || key === "") return root
    const copy = isRemote(module) ? copies.get(identityOf(module)) : undefined
    if (copy !== undefined) return path.join(root, copy.folder, splitSource(module.Source).folder)
    // A local module belongs to the same package as its caller.
    return path.join(placeOf(callerOf(key)), module.Source)
  }
  const calls = new Map<string, Map<string, string>>()
  for (const { Key } of modules.filter(isRemote)) {
    const caller = placeOf(callerOf(Key))
    const relative = path.relative(caller, placeOf(Key)).split(path.sep).join("/")
    const sources = calls.get(caller) ?? new Map<string, string>()
    calls.set(caller, sources.set(Key.split(".").at(-1) ?? "", relative.startsWith("../") ? relative : `./${relative}`))
  }
  return calls
}

/** Replaces the sources of module calls in the files of a folder. Returns the calls that no file contains. */
const rewrite = Effect.fn("vendor.rewrite")(function* (folder: string, sources: NewSources) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const name of (yield* files.readDirectory(folder)).toSorted()) {
    const file = path.join(folder, name)
    if (!configExtension.test(name)) continue
    const text = withSources(name, yield* files.readFileString(file), sources)
    if (text !== undefined) yield* files.writeFileString(file, text)
  }
})

const describe = ({ commit, folder, source, version }: VendoredModule) =>
  [source, version, commit === undefined ? undefined : `commit ${commit}`, `in ${folder}`]
    .filter((part) => part !== undefined)
    .join(" ")

const notes = (modules: ReadonlyArray<VendoredModule>) => `# Vendored modules

Copies of modules from other places, made by \`svc vendor\`. To update a module, restore its former source and version in the calling
file, and run the command again.

${modules.map((module) => `- ${describe(module)}`).join("\n")}
`

const vendor = Effect.fn("vendor")(function* (folder: string, name: ToolIdentity["name"], commits: boolean) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = yield* files.realPath(folder)
  if (commits) {
    const status = yield* run(root, "git", ["status", "--porcelain", "--", "."])
    if (!status.ok)
      return yield* failed(`${folder} is not in a Git checkout. Pass --no-commit to only write the files.`)
    if (status.stdout !== "") {
      return yield* failed(`${folder} has changes that are not committed. Commit them first, or pass --no-commit.`)
    }
  }
  const downloads = yield* files.realPath(yield* files.makeTempDirectoryScoped({ prefix: "svc-vendor-" }))
  const modules = yield* install(root, downloads, name)
  const copies = yield* copyPackages(root, downloads, modules)
  const vendored = [...copies.values()]
  if (vendored.length === 0) return vendored
  yield* Effect.forEach(newSources(path, root, modules, copies), ([caller, sources]) => rewrite(caller, sources))
  yield* files.writeFileString(path.join(root, vendorFolder, "README.md"), notes(vendored))
  if (commits) {
    const subject = `Vendor ${vendored.length === 1 ? "a module" : `${vendored.length} modules`}`
    yield* succeed(root, "git", ["add", "--force", "--", vendorFolder])
    yield* succeed(root, "git", ["add", "--update", "--", "."])
    const body = vendored.map(describe).join("\n")
    yield* succeed(root, "git", ["commit", "--quiet", "--message", subject, "--message", body])
  }
  return vendored
}, Effect.scoped)

export const vendorCommand = Command.make(
  "vendor",
  {
    folder: Argument.Directory("dir", { mustExist: true }).pipe(
      Argument.withDescription("Folder of the root module whose remote modules become copies")
    ),
    tool: Flag.Literals("tool", ToolIdentity.fields.name.literals).pipe(
      Flag.withDescription("The tool on PATH that downloads the modules; default: opentofu"),
      Flag.withDefault("opentofu")
    ),
    commit: Flag.Boolean("commit").pipe(
      Flag.withDescription("Commit the copies; --no-commit only writes them"),
      Flag.withDefault(true)
    ),
    json: jsonFlag
  },
  Effect.fn("vendor.command")(function* ({ commit, folder, json, tool }) {
    const modules = yield* vendor(folder, tool, commit)
    const text = modules.length === 0 ? "The module calls no remote module." : modules.map(describe).join("\n")
    yield* print(json, { modules, committed: commit && modules.length > 0 }, text)
  })
).pipe(
  Command.withDescription("Copy the remote modules that a module calls into its repository, and commit them"),
  Command.withExamples([
    { command: "svc vendor infra/app --tool terraform", description: "Copy the modules of infra/app with Terraform" }
  ])
)
