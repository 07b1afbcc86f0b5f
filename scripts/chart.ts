// `npm run chart` packs the Helm chart of this version, dist/svc-VERSION.tgz.
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, FileSystem, Path } from "effect"
import { Command, Flag } from "effect/cli"
import * as tar from "tar"
import { platform } from "../src/composition/Platform.ts"
import { version } from "../src/Version.ts"

const chart = Effect.fn("chart")(function* (out: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
  const source = path.join(root, "scripts/packages/chart")
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-chart-" })
  const target = path.join(folder, "svc")
  yield* files.copy(source, target)
  const manifest = yield* files.readFileString(path.join(source, "Chart.yaml"))
  const described = manifest.replace(/^# .*\n/m, "").replaceAll(/ersion: 0\.0\.0$/gm, `ersion: ${version}`)
  yield* files.writeFileString(path.join(target, "Chart.yaml"), described)
  const names = (yield* files.readDirectory(target, { recursive: true })).toSorted()
  const archive = path.join(path.resolve(root, out), `svc-${version}.tgz`)
  yield* files.makeDirectory(path.dirname(archive), { recursive: true })
  // The same chart always produces the same bytes.
  yield* Effect.promise(() =>
    tar.create(
      { gzip: true, file: archive, cwd: folder, portable: true, noDirRecurse: true, mtime: new Date(0) },
      names.filter((name) => /\.\w+$/.test(name)).map((name) => `svc/${name}`)
    )
  )
  yield* Console.log(path.relative(root, archive))
}, Effect.scoped)

const command = Command.make(
  "chart",
  { out: Flag.String("out").pipe(Flag.withDescription("Folder for the archive"), Flag.withDefault("dist")) },
  ({ out }) => chart(out)
).pipe(Command.withDescription("Pack the Helm chart of this version"))

NodeRuntime.runMain(Command.run(command, { version }).pipe(Effect.provide(platform)))
