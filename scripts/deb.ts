// `npm run deb` packs the compiled program into a Debian package, dist/svc_VERSION-REVISION_ARCHITECTURE.deb. Build the program
// first with `npm run build` or `npm run build -- --target linux-arm64`.
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Option, Path } from "effect"
import { Command, Flag } from "effect/cli"
import { platform } from "../src/composition/Platform.ts"
import { debArchitectures, debPackage } from "./packages/DebPackage.ts"

const command = Command.make(
  "deb",
  {
    target: Flag.Literals("target", ["linux-x64", "linux-arm64"]).pipe(
      Flag.withDescription(`The platform of the program: ${Object.keys(debArchitectures).join(" or ")}`),
      Flag.withDefault(process.arch === "arm64" ? "linux-arm64" : "linux-x64")
    ),
    binary: Flag.String("binary").pipe(Flag.withDescription("The program; dist/svc by default"), Flag.optional),
    revision: Flag.Int("revision").pipe(
      Flag.withDescription("Number of the package of this version; a larger one is an upgrade"),
      Flag.withDefault(1)
    ),
    out: Flag.String("out").pipe(Flag.withDescription("Folder for the package"), Flag.withDefault("dist"))
  },
  Effect.fn("deb")(function* ({ binary, out, revision, target }) {
    const path = yield* Path.Path
    const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
    const program = Option.getOrElse(binary, () => "dist/svc")
    const result = yield* debPackage({
      root,
      binary: path.resolve(root, program),
      target,
      revision,
      out: path.resolve(root, out)
    })
    yield* Console.log(path.relative(root, result))
  })
).pipe(Command.withDescription("Put the compiled program into a Debian package"))

NodeRuntime.runMain(Command.run(command, { version: Bun.version }).pipe(Effect.provide(platform)))
