// `npm run image` packs the compiled program into an OCI image without a container engine, dist/svc-VERSION-ARCHITECTURE.oci.tar.
// Build the program first with `npm run build`. Requires Debian's `mmdebstrap`, and root or a range of subordinate user ids.
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Option, Path } from "effect"
import { Command, Flag } from "effect/cli"
import { platform } from "../src/composition/Platform.ts"
import { ImageFailed, ociImage } from "./packages/OciImage.ts"

const command = Command.make(
  "image",
  {
    target: Flag.Literals("target", ["linux-x64", "linux-arm64"]).pipe(
      Flag.withDescription("The platform of the program"),
      Flag.withDefault(process.arch === "arm64" ? "linux-arm64" : "linux-x64")
    ),
    binary: Flag.String("binary").pipe(Flag.withDescription("The program"), Flag.withDefault("dist/svc")),
    suite: Flag.String("suite").pipe(Flag.withDescription("Debian release of the base"), Flag.withDefault("bookworm")),
    mirror: Flag.String("mirror").pipe(Flag.withDescription("Debian mirror"), Flag.optional),
    tofu: Flag.String("tofu").pipe(
      Flag.withDescription("Archive of OpenTofu (.tar.gz) that the image shall contain; needs --tofu-sha256"),
      Flag.optional
    ),
    tofuSha256: Flag.String("tofu-sha256").pipe(
      Flag.withDescription("SHA-256 of that archive in hexadecimal, from a source that you trust"),
      Flag.optional
    ),
    out: Flag.String("out").pipe(Flag.withDescription("Folder for the image"), Flag.withDefault("dist"))
  },
  Effect.fn("image")(function* ({ binary, mirror, out, suite, target, tofu, tofuSha256 }) {
    const path = yield* Path.Path
    const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
    if (Option.isSome(tofu) !== Option.isSome(tofuSha256)) {
      return yield* new ImageFailed({ message: "Give --tofu and --tofu-sha256 together." })
    }
    const result = yield* ociImage({
      root,
      binary: path.resolve(root, binary),
      target,
      suite,
      mirror: Option.getOrUndefined(mirror),
      tofu: Option.getOrUndefined(
        Option.all({ archive: Option.map(tofu, (file) => path.resolve(file)), sha256: tofuSha256 })
      ),
      out: path.resolve(root, out)
    })
    yield* Console.log(path.relative(root, result))
  })
).pipe(Command.withDescription("Put the compiled program into an OCI image, without a container engine"))

NodeRuntime.runMain(Command.run(command, { version: Bun.version }).pipe(Effect.provide(platform)))
