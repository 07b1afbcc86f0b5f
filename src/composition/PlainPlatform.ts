import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { layerNativeAead } from "./NativeAead.ts"

/** Combines the native AES-GCM with the library's implementation of everything else. */
export const cryptography = Layer.merge(NodeCrypto.layer, layerNativeAead)

/** The machine's files, processes, terminal, cryptography and outgoing HTTP, for programs without a database. */
export const plainPlatform = Layer.mergeAll(NodeServices.layer, cryptography, FetchHttpClient.layer)
