import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { Layer } from "effect"

/** Files, processes, terminal and cryptography of the machine. */
export const platform = Layer.mergeAll(NodeServices.layer, NodeCrypto.layer)
