import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { ChildProcessSpawner } from "effect/process"
import { outsideTransaction } from "../../runner/thread/OutsideTransaction.ts"
import { plainPlatform } from "./PlainPlatform.ts"

const processes = Layer.effect(
  ChildProcessSpawner.ChildProcessSpawner,
  Effect.map(ChildProcessSpawner.ChildProcessSpawner, ({ spawn }) =>
    ChildProcessSpawner.make((command) => outsideTransaction("A process is started")(spawn(command)))
  )
)

const requests = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, HttpClient.transform(outsideTransaction("A request is sent")))
)

/**
 * The machine's files, processes, terminal, cryptography and outgoing HTTP. Within a transaction, using processes or HTTP is a
 * defect, because they are slow.
 */
export const platform = Layer.mergeAll(processes, requests).pipe(Layer.provideMerge(plainPlatform))
