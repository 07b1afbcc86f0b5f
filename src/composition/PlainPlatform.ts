import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { layerNativeAead } from "./NativeAead.ts"

/** AES-GCM natively, everything else as the library does it. */
export const cryptography = Layer.merge(NodeCrypto.layer, layerNativeAead)

/** The machine's files, processes, terminal, cryptography and outgoing HTTP, for programs that have no database. */
export const plainPlatform = Layer.mergeAll(NodeServices.layer, cryptography, FetchHttpClient.layer)
