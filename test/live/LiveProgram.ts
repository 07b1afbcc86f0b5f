import { Effect, FileSystem, Path } from "effect"
import { fileURLToPath } from "node:url"
import { serverBinary } from "../crash/ServerBinary.ts"

const main = fileURLToPath(new URL("../crash/service/NodeMain.ts", import.meta.url))

/** Writes a single command that runs the server on this Node executable. */
const onNode = Effect.fnUntraced(function* (node: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const command = path.join(yield* files.makeTempDirectoryScoped({ prefix: "svc-live-node-" }), "svc")
  const script = `#!/bin/sh\nexec '${node}' --disable-warning=ExperimentalWarning '${main}' "$@"\n`
  yield* files.writeFileString(command, script, { mode: 0o700 })
  return command
})

/**
 * Prepares the server for these tests: the compiled server, or the sources on the Node (22.19 or newer) that `SVC_TEST_NODE`
 * specifies.
 */
export const liveProgram = Effect.suspend(() => {
  const node = process.env["SVC_TEST_NODE"] ?? ""
  return node === "" ? serverBinary : onNode(node)
})
