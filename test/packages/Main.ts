// `npm run test:packages [-- --short]`: packs the packages, installs them into empty projects on Node and Bun, and checks types,
// the demonstration, the raw request corpus, third-party programs, and a clean close. Exits with 1 if a step has failed.
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Clock, Console, Effect, FileSystem, Path, Runtime, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { cliPackage } from "../../scripts/packages/CliPackage.ts"
import { dashboardPackage } from "../../scripts/packages/DashboardPackage.ts"
import { compileLibrary } from "../../scripts/packages/Library.ts"
import { libraryPackages } from "../../scripts/packages/LibraryPackages.ts"
import { applicationWorks, clientIsSmall, pageWorks, withExample } from "./Outside.ts"
import { packed, project, type Runtime as JavaScriptRuntime, runtimes, succeeded } from "./Project.ts"
import { declarationsHaveSources } from "./DeclarationMaps.ts"
import { readmesInstall, readmesRun } from "./Readmes.ts"
import { demoWorks, docsCompile, sameLines, typesAreClean } from "./Steps.ts"

class PackagesFailed extends Schema.TaggedError<PackagesFailed>()("PackagesFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const typesOfNode = "@types/node@24.9.2"
const compiler = "typescript@7.0.2"
const splitProgram = "node_modules/@svc-dev/server/dist/src/Main.js"
const cuts = ["schema", "client", "server", "dashboard"]

const lane = Effect.fn("lane")(function* (short: boolean) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(yield* path.fromFileUrl(new URL("../..", import.meta.url)))
  const out = path.join(root, "dist/packages")
  const library = path.join(root, "dist/library")
  const own = (file: string) => path.join(root, "test/packages", file)
  const failed: Array<string> = []
  const step = Effect.fnUntraced(function* <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) {
    const started = yield* Clock.currentTimeMillis
    const exit = yield* Effect.exit(effect)
    const seconds = (((yield* Clock.currentTimeMillis) - started) / 1000).toFixed(1)
    yield* Console.log(`${exit._tag === "Success" ? "ok    " : "FAILED"}  ${name}  ${seconds} s`)
    if (exit._tag === "Success") return exit.value
    failed.push(name)
    yield* Console.log(Cause.pretty(exit.cause))
  })

  yield* step("assemble", Effect.andThen(compileLibrary(root, library), libraryPackages(root, library, out)))
  yield* step("assemble the dashboard", dashboardPackage(root, path.join(out, "dashboard"), short ? "fast" : "best"))
  if (!short) yield* step("assemble the command line", cliPackage(root, path.join(out, "cli")))
  const folders = [...cuts, ...(short ? [] : ["cli"])].map((name) => path.join(out, name))
  yield* Effect.forEach(folders, (folder) =>
    step(`publint ${path.basename(folder)}`, succeeded(root, "node_modules/.bin/publint", ["--strict", folder]))
  )
  const tarballs = yield* packed(folders, yield* files.makeTempDirectoryScoped({ prefix: "svc-tarballs-" }))
  for (const tarball of tarballs.slice(0, 3)) {
    const name = path.basename(tarball)
    yield* step(`attw ${name}`, succeeded(root, "node_modules/.bin/attw", [tarball, "--profile", "esm-only"]))
  }

  const copied = [
    own("project/TypedConsumer.ts"),
    own("project/UseAndClose.mjs"),
    own("project/OutsidePage.ts"),
    path.join(root, "test/src/http/raw/Corpus.json")
  ]
  const bun = process.execPath
  const behaviour = own("programs/ServerBehaviour.ts")
  const rawCorpus = own("programs/RawCorpus.ts")
  const projectOn = ({ install }: JavaScriptRuntime) =>
    Effect.tap(
      project(
        [install, "effect@4.1.0", "@effect/platform-node@4.1.0", compiler, typesOfNode, ...tarballs.slice(0, 4)],
        copied
      ),
      (folder) => withExample(root, folder)
    )
  const onBun = yield* projectOn(runtimes[2])
  const expected = yield* step("Bun: raw requests and a clean close", succeeded(onBun, bun, ["UseAndClose.mjs"]))
  if (!short) yield* step("Bun: the demonstration", demoWorks(onBun, bun, splitProgram))
  const behaved = yield* step("Bun: behaviour of the listener", succeeded(root, bun, [behaviour]))
  yield* step("Bun: an application of an outsider", applicationWorks(onBun, [bun]))
  yield* step("Bun: the programs of the READMEs", readmesRun(onBun, [bun]))
  yield* step("declarations lead to their sources", declarationsHaveSources(onBun))
  yield* step("Chromium: a page of an outsider", pageWorks(onBun))
  yield* step("the client takes less than 100 KB of a page", clientIsSmall(onBun))
  yield* step("the code of docs/embedding.md", docsCompile(library))
  yield* step("a strict consumer", typesAreClean(onBun, ["TypedConsumer.ts", "OutsideMain.ts"], short))

  for (const runtime of short ? [runtimes[0]] : [runtimes[0], runtimes[1]]) {
    const folder = yield* projectOn(runtime)
    const node = path.join(folder, runtime.program)
    const plain = ["--disable-warning=ExperimentalWarning"]
    yield* step(
      `${runtime.name}: raw requests and a clean close`,
      Effect.flatMap(succeeded(folder, node, [...plain, "UseAndClose.mjs"]), (found) =>
        sameLines(expected ?? "", found)
      )
    )
    yield* step(
      `${runtime.name}: behaviour of the listener`,
      Effect.flatMap(succeeded(root, node, [...plain, behaviour]), (found) => sameLines(behaved ?? "", found))
    )
    yield* step(
      `${runtime.name}: the corpus of raw requests`,
      Effect.flatMap(succeeded(root, node, [...plain, rawCorpus]), (found) =>
        sameLines("H6 bare line feeds: 505", found)
      )
    )
    yield* step(`${runtime.name}: an application of an outsider`, applicationWorks(folder, [node, ...plain]))
    if (!short) {
      yield* step(`${runtime.name}: each README installs and runs`, readmesInstall(tarballs, [node, ...plain]))
    }
    yield* step(`${runtime.name}: the demonstration`, demoWorks(folder, node, splitProgram))
    if (!short) {
      const live = [`SVC_TEST_NODE=${node}`, bun, "test", "--timeout", "180000", "./test/live"]
      yield* step(`${runtime.name}: live streams across crashes`, succeeded(root, "env", live))
    }
  }
  if (failed.length > 0) return yield* new PackagesFailed({ message: `Failed: ${failed.join(", ")}` })
})

const command = Command.make(
  "test:packages",
  {
    short: Flag.Boolean("short").pipe(
      Flag.withDescription("The lowest Node and Bun, without what takes long"),
      Flag.withDefault(false)
    )
  },
  ({ short }) => Effect.scoped(lane(short))
)

NodeRuntime.runMain(Command.run(command, { version: "0" }).pipe(Effect.provide(NodeServices.layer)), {
  disableErrorReporting: true
})
