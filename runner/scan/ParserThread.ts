// Do not import Effect here: this file is loaded once per worker, and loading anything besides the parser would double the
// startup time.
import { readFile } from "node:fs/promises"
import { parentPort } from "node:worker_threads"
import { gunzipSync } from "node:zlib"
import "@cdktn/hcl2json/wasm/wasm_exec.js"
import { hclFileName } from "./HclFileName.ts"
import type { HclAnswer, HclRequest } from "./HclWorkerMessage.ts"

type ParserCallback = (error: string | null | undefined, json?: string) => void

interface GoRuntime {
  readonly importObject: WebAssembly.Imports
  readonly run: (instance: WebAssembly.Instance) => Promise<void>
}

declare global {
  var Go: new () => GoRuntime
  var fs: { writeSync: (descriptor: number, bytes: Uint8Array) => number }
  var __parse_terraform_config_wasm__: { parse?: (name: string, text: string, done: ParserCallback) => void }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
const answer = (message: HclAnswer) => parentPort?.postMessage(message)

const start = async (wasm: string | URL) => {
  // Discard the parser's own output, such as the stack trace of a crash, which must not appear in the output of this process.
  globalThis.fs.writeSync = (_, bytes) => bytes.length
  const parser: typeof globalThis.__parse_terraform_config_wasm__ = {}
  globalThis.__parse_terraform_config_wasm__ = parser
  const go = new globalThis.Go()
  const compressed = await readFile(wasm)
  const { instance } = await WebAssembly.instantiate(gunzipSync(compressed), go.importObject)
  void go.run(instance)
  while (parser.parse === undefined) await new Promise((resolve) => setTimeout(resolve, 0))
  const { parse } = parser

  parentPort?.on("message", ({ id, text }: HclRequest) => {
    try {
      parse(hclFileName, text, (error, json) => {
        if (error) answer(isParserFault(error) ? { kind: "crash", id } : { kind: "error", id, error })
        else answer(json === undefined ? { kind: "crash", id } : { kind: "json", id, json })
      })
    } catch {
      answer({ kind: "crash", id })
    }
  })
  answer({ kind: "ready" })
}

/** Detects a stack overflow, which leaves the Go runtime damaged even if the runtime still responds. */
const isParserFault = (error: string) =>
  error.includes("call stack") || error.includes("already exited") || error.includes("unreachable")

/** Serves requests to this worker thread with the parser in the given file. */
export const serveParser = (wasm: string | URL): void => {
  start(wasm).catch((cause: unknown) => answer({ kind: "failed", message: String(cause) }))
}
