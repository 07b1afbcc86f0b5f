import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"

/** The machine's files, processes, terminal, cryptography and outgoing HTTP. */
export const platform = Layer.mergeAll(NodeServices.layer, NodeCrypto.layer, FetchHttpClient.layer)
