import { Path, Effect, Schema } from "effect"

/** Raised if the data folder has no socket for the operator's commands, or if no server responds on the socket. */
export class OperatorSocketUnusable extends Schema.TaggedError<OperatorSocketUnusable>()("OperatorSocketUnusable", {
  message: Schema.String
}) {}

/** Maximum length in bytes that the kernel allows for the path of a Unix domain socket, without the terminating NUL. */
const longestPath = process.platform === "linux" ? 107 : 103

/**
 * Returns the path of the socket for the operator's commands. `folder` is the real path of the data folder. Fails with
 * `OperatorSocketUnusable` if the path is too long for a socket.
 */
export const operatorSocketPath = Effect.fn("operatorSocketPath")(function* (folder: string) {
  const path = yield* Path.Path
  const socket = path.join(folder, "operator.sock")
  const length = Buffer.byteLength(socket)
  if (length <= longestPath) return socket
  return yield* new OperatorSocketUnusable({
    message: `The path ${socket} has ${length} bytes, and that of a Unix domain socket at most ${longestPath}: move the data folder to a shorter path.`
  })
})
