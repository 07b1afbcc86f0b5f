// `npm run docs` builds the documentation as static pages in dist/docs, with search, and fails on a broken link. VitePress
// has a separate lock file in site/, so that the product's `npm ci` does not install VitePress.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Path, Runtime, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { docsSite } from "./DocsSite.ts"

/** The error if the pages could not be built. */
class DocsFailed extends Schema.TaggedError<DocsFailed>()("DocsFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const run = Effect.fnUntraced(function* (folder: string, program: string, ...args: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(ChildProcess.make(program, args, { cwd: folder, extendEnv: true }))
  const [output, code] = yield* Effect.all([Stream.mkString(Stream.decodeText(handle.all)), handle.exitCode], {
    concurrency: 2
  })
  if (Number(code) !== 0) return yield* new DocsFailed({ message: `${program} failed:\n${output.slice(-4000)}` })
}, Effect.scoped)

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
  const source = path.join(root, "site/pages")
  const site = yield* docsSite(root)
  yield* files.remove(source, { recursive: true, force: true })
  const write = Effect.fnUntraced(function* (name: string, text: string) {
    yield* files.makeDirectory(path.dirname(path.join(source, name)), { recursive: true })
    yield* files.writeFileString(path.join(source, name), text)
  })
  yield* Effect.forEach(site.pages, ([name, text]) => write(name, text))
  yield* write("site.json", JSON.stringify({ title: "svc", sections: site.sections }))
  const copy = Effect.fnUntraced(function* (name: string, target: string) {
    if (!(yield* files.exists(path.join(root, name)))) {
      return yield* new DocsFailed({ message: `A page links to ${name}, which does not exist.` })
    }
    yield* files.makeDirectory(path.dirname(target), { recursive: true })
    yield* files.copy(path.join(root, name), target)
  })
  yield* Effect.forEach(site.copied, (name) => copy(name, path.join(source, "public", name)))
  // The generator processes images and names them after their contents.
  yield* Effect.forEach(site.images, (name) => copy(name, path.join(source, name)))
  const generator = path.join(root, "site")
  if (!(yield* files.exists(path.join(generator, "node_modules/vitepress")))) {
    yield* run(generator, "npm", "ci", "--no-audit", "--no-fund")
  }
  yield* run(generator, path.join(generator, "node_modules/.bin/vitepress"), "build", ".")
  yield* Console.log("Built dist/docs. Serve it as static files, or open it with `npm run docs:preview`.")
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
