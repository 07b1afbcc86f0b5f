import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"

/** Files, processes, terminal, cryptography and outgoing HTTP of the machine. */
export const platform = Layer.mergeAll(NodeServices.layer, NodeCrypto.layer, FetchHttpClient.layer)
