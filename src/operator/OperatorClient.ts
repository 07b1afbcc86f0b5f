import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { Console, Effect, FileSystem, Layer, Option } from "effect"
import { RpcClient, RpcClientError, RpcSerialization } from "effect/rpc"
import type { Holder } from "../database/InstanceLock.ts"
import { OperatorUnauthorised, readOperatorSecret, sendOperatorSecret } from "./OperatorAuthorization.ts"
import { OperatorProtocol } from "./OperatorProtocol.ts"
import { OperatorSocketUnusable, operatorSocketPath } from "./OperatorSocketPath.ts"

/** Describes the server that holds a data folder, for messages. */
export const nameHolder = (folder: string, holder: Option.Option<Holder>) =>
  `The server that has ${folder}${Option.match(holder, { onNone: () => "", onSome: ({ pid }) => ` (process ${pid})` })}`

const notListening =
  "It does not listen for the command: it is starting or stopping, is another command, or its log contains the reason. Repeat the command shortly, or stop the server first."

const unusable = (named: string, reason: string) =>
  new OperatorSocketUnusable({ message: `${named} does not take this command. ${reason}` })

const connected = Effect.fn("connectToServer")(function* (folder: string, named: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Effect.mapError(operatorSocketPath(folder), ({ message }) =>
    unusable(named, `${message} Or stop the server and repeat the command.`)
  )
  if (!(yield* Effect.orElseSucceed(files.exists(path), () => false))) {
    return yield* unusable(named, notListening)
  }
  const secret = yield* readOperatorSecret(folder)
  if (Option.isNone(secret)) return yield* unusable(named, notListening)
  return RpcClient.layerProtocolSocket().pipe(
    // Do not limit the size, because a response may contain a whole state.
    Layer.provide(RpcSerialization.layerNdjsonWith({ maxBufferSize: "unbounded" })),
    Layer.provide(NodeSocket.layerNet({ path })),
    Layer.merge(sendOperatorSecret(secret.value))
  )
})

/**
 * Creates a client for the operator's commands, connected to the server that holds `folder` (its real path). Fails with
 * `OperatorSocketUnusable` on a transport error, and never retries.
 */
export const operatorClient = Effect.fn("operatorClient")(function* (folder: string, holder: Option.Option<Holder>) {
  const named = nameHolder(folder, holder)
  const protocol = yield* Layer.build(yield* connected(folder, named)).pipe(
    Effect.catchTag("SocketError", () => unusable(named, notListening))
  )
  const client = yield* RpcClient.make(OperatorProtocol, { disableTracing: true }).pipe(Effect.provide(protocol))

  /**
   * If several servers use the same database, prints which server responded, because a command reaches only this folder's
   * server. Servers of earlier releases do not support this request.
   */
  const nameAnswering = client.Node().pipe(
    Effect.flatMap((node) =>
      node === null
        ? Effect.void
        : Console.error(`Answered by ${node.id}${node.label === "" ? "" : ` on ${node.label}`}.`)
    ),
    Effect.catchCause(() => Effect.void)
  )

  const reached = <A, E>(answer: Effect.Effect<A, E | OperatorUnauthorised | RpcClientError.RpcClientError>) =>
    answer.pipe(
      Effect.tap(nameAnswering),
      Effect.catchIf(
        (error) => error instanceof OperatorUnauthorised,
        // The server has a new secret, so it has restarted in the meantime.
        ({ message }) => unusable(named, message)
      ),
      Effect.catchIf(
        (error) => error instanceof RpcClientError.RpcClientError,
        ({ message, reason }) =>
          // No process is listening on the socket, so the command was not sent.
          reason._tag === "SocketOpenError"
            ? unusable(named, notListening)
            : new OperatorSocketUnusable({
                message: `${named} did not answer (${message}). The command may have been done or not: look before you repeat it.`
              })
      ),
      Effect.catchDefect((defect) =>
        unusable(
          named,
          `It could not do it (${defect instanceof Error ? defect.message : String(defect)}). See its log for details. A server of another release must be restarted first.`
        )
      )
    )
  return { client, reached }
})
