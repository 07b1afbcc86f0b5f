import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import { Effect, FileSystem, Layer, Option, Path, Redacted, Schema } from "effect"
import { Headers } from "effect/http"
import { RpcMiddleware } from "effect/rpc"

/** Raised if a command on the operator's socket does not contain the secret of the listening server. */
export class OperatorUnauthorised extends Schema.TaggedError<OperatorUnauthorised>()("OperatorUnauthorised", {
  message: Schema.String
}) {}

/**
 * Requires every command to include a secret that only the owner of the data folder can read. If Runs execute as the
 * server's user, the file mode of the socket does not exclude module code, because on some kernels the confinement does not
 * cover sockets.
 */
export class OperatorAuthorization extends RpcMiddleware.Service<OperatorAuthorization>()(
  "svc/src/operator/OperatorAuthorization",
  { error: OperatorUnauthorised, requiredForClient: true }
) {}

const header = "x-svc-operator-secret"
const secretBytes = 32

const secretPath = Effect.fnUntraced(function* (folder: string) {
  const path = yield* Path.Path
  return path.join(folder, "operator.secret")
})

const digest = (text: string) => createHash("sha256").update(text).digest()

/** Creates this server's secret, which is valid while the server listens. The server has to have claimed `folder`. */
export const issueOperatorSecret = Effect.fn("issueOperatorSecret")(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* secretPath(folder)
  const remove = files.remove(path, { force: true })
  const secret = randomBytes(secretBytes).toString("hex")
  // Remove a file that a killed server left behind, because its mode may be different. A new file has the correct mode from
  // the start.
  yield* remove
  yield* files.writeFileString(path, secret, { flag: "wx", mode: 0o600 })
  yield* Effect.addFinalizer(() => Effect.ignore(remove))
  return Redacted.make(secret)
})

/**
 * Returns the secret of the server that holds the folder, or `none` if the server is not listening or runs a release that
 * does not use a secret.
 */
export const readOperatorSecret = Effect.fn("readOperatorSecret")(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  return yield* files.readFileString(yield* secretPath(folder)).pipe(
    Effect.map((text) => Redacted.make(text)),
    Effect.option
  )
})

/** Refuses every command that does not contain the secret. */
export const requireOperatorSecret = (secret: Redacted.Redacted) => {
  const expected = digest(Redacted.value(secret))
  return Layer.succeed(OperatorAuthorization, (command, { headers }) =>
    Option.exists(Headers.get(headers, header), (given) => timingSafeEqual(digest(given), expected))
      ? command
      : new OperatorUnauthorised({
          message:
            "The command does not carry the secret of this server. Repeat it as the user of the server, or as root."
        })
  )
}

/** Adds the secret to every command. */
export const sendOperatorSecret = (secret: Redacted.Redacted) =>
  RpcMiddleware.layerClient(OperatorAuthorization, ({ next, request }) =>
    next({ ...request, headers: Headers.set(request.headers, header, Redacted.value(secret)) })
  )
